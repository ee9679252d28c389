#pragma once

namespace bitpool {

// What every trainer gives back: the model, which never changes again and may be used from many
// threads, and the story of how it was found, with a BriefReport() of one line.
template <class Model>
struct Trained {
  Model model;
  typename Model::Summary summary;
};

}  // namespace bitpool
