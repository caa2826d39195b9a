#include "io/hdf5/flat_boxes.h"

#include <algorithm>

// HDF5 selects boxes, files are written by ranges of flat elements. A range is cut into a first
// part of a row, whole rows, and a last part, in every dimension.

namespace mpitron::io {
namespace {

/// Elements below one index of dimension `dim`.
Index inner(const Shape& shape, int dim) {
  Index elements = 1;
  for (int i = dim + 1; i < shape.rank(); ++i) {
    elements *= shape[i];
  }
  return elements;
}

/// The largest box that begins at element `begin` and has only elements below `end`.
Box first_box(const Shape& shape, Index begin, Index end) {
  Box box;
  bool whole = false;  // the dimension lies within the one that limits the box
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const Index below = inner(shape, dim);
    const Index start = begin / below % shape[dim];
    box.start.push_back(start);
    if (whole) {
      box.count.push_back(shape[dim]);
      continue;
    }
    whole = begin % below == 0 && begin + below <= end;
    box.count.push_back(whole ? std::min((end - begin) / below, shape[dim] - start) : 1);
  }
  return box;
}

}  // namespace

std::vector<Box> flat_boxes(const Shape& shape, Index begin, Index end) {
  MPITRON_CHECK(0 <= begin && end <= shape.numel(), begin, end, to_string(shape));
  std::vector<Box> boxes;
  while (begin < end) {
    boxes.push_back(first_box(shape, begin, end));
    begin += boxes.back().count.numel();
  }
  return boxes;
}

}  // namespace mpitron::io
