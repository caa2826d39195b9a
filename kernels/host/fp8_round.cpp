#include "kernels/fp8_round.h"

#include "kernels/host/views.h"

namespace mpitron::kernels {

Index workspace_bytes(const device::HostStream&, const Fp8Round& kernel) {
  const Fp8Blocks blocks(kernel);
  return blocks.chunks * blocks.across * 4;
}

void run(device::HostStream& stream, const Fp8Round& kernel) {
  MPITRON_CHECK(kernel.workspace.bytes() >= workspace_bytes(stream, kernel));
  const Fp8Blocks blocks(kernel);
  const Index t = kernel.x.size(0), h = kernel.x.size(1);
  auto* const largest = static_cast<float*>(kernel.workspace.data);
  visit_dtype(kernel.x.dtype, [&]<class T>() {
    const Rows<const T> xs(kernel.x);
    const Rows<T> ys(kernel.y);
    /// visit(row, block of columns, its columns' begin and end) over the rows of a chunk.
    const auto for_pieces = [&](Index chunk, auto&& visit) {
      for (Index row = chunk * blocks.rows; row < std::min((chunk + 1) * blocks.rows, t); ++row) {
        for (Index block = 0; block < blocks.across; ++block) {
          visit(row, block, block * blocks.columns, std::min((block + 1) * blocks.columns, h));
        }
      }
    };
    host::for_blocks(blocks.chunks, t * h, [&](Index chunk) {
      float* const found = largest + chunk * blocks.across;
      std::fill(found, found + blocks.across, 0.f);
      for_pieces(chunk, [&](Index row, Index block, Index begin, Index end) {
        const T* x = xs[row];
        for (Index i = begin; i < end; ++i) {
          found[block] = std::max(found[block], finite_magnitude(static_cast<float>(x[i])));
        }
      });
    });
    for (Index i = blocks.across; blocks.one_block_of_rows && i < blocks.chunks * blocks.across;
         ++i) {
      float& of_all = largest[i % blocks.across];
      of_all = std::max(of_all, largest[i]);
    }
    host::for_blocks(blocks.chunks, 4 * t * h, [&](Index chunk) {
      for_pieces(chunk, [&](Index row, Index, Index begin, Index end) {
        const T* x = xs[row];
        T* y = ys[row];
        const float of_block = largest[blocks.place(row, begin)];
        for (Index i = begin; i < end; ++i) {
          y[i] = static_cast<T>(
              round_in_block(static_cast<float>(x[i]), of_block, kernel.format, kernel.margin));
        }
      });
    });
  });
}

}  // namespace mpitron::kernels
