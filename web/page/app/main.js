// The page: a frame, and the four views it shows.
import "./search_view.js";
import "./browse_view.js";
import "./duplicates_view.js";
import "./update_view.js";
import "./page_frame.js";
import { takePictures } from "./query_pictures.js";

takePictures();
