#include "kernels/host/linear/transpose.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels::host {
namespace transpose_test {

template <class T>
void check(Index rows, Index columns) {
  const Index from_stride = columns + 3;
  const Index to_stride = rows + 5;
  std::vector<T> from(static_cast<std::size_t>(rows * from_stride));
  std::iota(from.begin(), from.end(), T{1});
  std::vector<T> to(static_cast<std::size_t>(columns * to_stride), T{0});
  run_transpose(Transpose<T>{from.data(), rows, columns, from_stride, to.data(), to_stride});
  for (Index column = 0; column < columns; ++column) {
    for (Index row = 0; row < to_stride; ++row) {
      const T expected =
          row < rows ? from[static_cast<std::size_t>(row * from_stride + column)] : T{0};
      ASSERT_EQ(to[static_cast<std::size_t>(column * to_stride + row)], expected)
          << rows << "x" << columns << " at " << row << ", " << column;
    }
  }
}

TEST(Transpose, OddSizes) {
  for (const Index rows : {1, 15, 16, 17, 32, 33, 64, 300}) {
    for (const Index columns : {1, 15, 16, 31, 64, 65, 200}) {
      check<std::uint16_t>(rows, columns);
      check<std::uint32_t>(rows, columns);
    }
  }
}

}  // namespace transpose_test
}  // namespace mpitron::kernels::host
