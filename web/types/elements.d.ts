// The page's own elements, so that making one by its name has the right type.
interface HTMLElementTagNameMap {
  "crop-box": import("../page/app/crop_box.js").CropBox;
  "decided-list": import("../page/app/decisions.js").DecidedList;
  "duplicate-card": import("../page/app/duplicate_card.js").DuplicateCard;
  "likeness-slider": import("../page/app/query_panel.js").LikenessSlider;
  "notice-list": import("../page/app/notices.js").NoticeList;
  "picture-grid": import("../page/app/picture_grid.js").PictureGrid;
  "query-panel": import("../page/app/query_panel.js").QueryPanel;
  "zoom-picture": import("../page/app/zoom_picture.js").ZoomPicture;
}
