// The page: a frame, and the four views it shows.
import "./browse_view.js";
import "./duplicates_view.js";
import "./page_frame.js";
import { takePictures } from "./query_pictures.js";
import "./search_view.js";
import "./update_view.js";

takePictures();
