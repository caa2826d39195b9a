// Multiplies the groups of rows that visit experts on the host. fp32 blocks of all groups are
// shared out together, so that one large expert does not keep a thread busy alone; half types go
// through planned products, group by group.
#include "kernels/linear/grouped_matmul.h"

#include <algorithm>
#include <bit>

#include "kernels/host/common/parallel.h"
#include "kernels/host/linear/gemm.h"

namespace mpitron::kernels {
namespace host {
namespace {

/// A block of a result: large enough that what a product spends on packing its arguments does not
/// show, small enough that blocks share out evenly.
constexpr Index kBlockRows = 512, kBlockColumns = 1024;

/// A block of one group's result; its operands' rows begin at `start`.
struct Block {
  std::size_t group;
  Index start, row, rows, column, columns;
};

/// Calls f(block) for the blocks of [rows, columns].
template <class F>
void for_result_blocks(std::size_t group, Index start, Index rows, Index columns, F&& f) {
  for (Index column = 0; column < columns; column += kBlockColumns) {
    for (Index row = 0; row < rows; row += kBlockRows) {
      f(Block{group, start, row, std::min(kBlockRows, rows - row), column,
              std::min(kBlockColumns, columns - column)});
    }
  }
}

/// Shares the blocks that `list` enumerates out over the threads, in consecutive shares of about
/// the same cost. `list` calls its argument with (block, cost) and is walked twice: for the total,
/// and by each thread for its share.
template <class List, class Run>
void share_blocks(const List& list, const Run& run_block) {
  Index total = 0;
  list([&](const Block&, Index cost) { total += cost; });
  const Index shares = max_workers();
  for_blocks(shares, total, [&](Index share) {
    Index before = 0;
    list([&](const Block& block, Index cost) {
      const Index middle = before + cost / 2;
      if (middle * shares / total == share) {
        run_block(block);
      }
      before += cost;
    });
  });
}

const float* element(const In& view, Index row, Index column) {
  return view.as<float>() + row * view.stride(0) + column;
}
float* element(const device::TensorView& view, Index row, Index column) {
  return view.as<float>() + row * view.stride(0) + column;
}

/// Writes each group's rows of c, block by block; k is never cut, so a block's bits are its own.
void multiply_groups(const GroupedMatmul& kernel) {
  const Index n = kernel.c.size(1), k = kernel.a.size(1);
  const auto list = [&](const auto& visit) {
    for_groups(kernel.counts, [&](std::size_t group, Index begin, Index end) {
      for_result_blocks(group, begin, end - begin, n,
                        [&](const Block& block) { visit(block, block.rows * block.columns * k); });
    });
  };
  share_blocks(list, [&](const Block& block) {
    const In& b = kernel.b[block.group];
    const Index row = block.start + block.row;
    multiply_alone(
        {.transpose_b = kernel.transpose_b,
         .m = block.rows,
         .n = block.columns,
         .k = k,
         .a = element(kernel.a, row, 0),
         .a_stride = kernel.a.stride(0),
         .b = kernel.transpose_b ? element(b, block.column, 0) : element(b, 0, block.column),
         .b_stride = b.stride(0),
         .c = element(kernel.c, row, block.column),
         .c_stride = kernel.c.stride(0)});
  });
}

/// Adds each group's rows up into its weight gradient; the rows of a group are summed by one
/// product, in order.
void add_up_groups(const GroupedWeightGradient& kernel) {
  const Index rows = kernel.a.size(1), columns = kernel.b.size(1);
  const auto list = [&](const auto& visit) {
    for_groups(kernel, [&](std::size_t group, Index begin, Index end) {
      for_result_blocks(group, begin, rows, columns, [&](const Block& block) {
        visit(block, block.rows * block.columns * (end - begin));
      });
    });
  };
  share_blocks(list, [&](const Block& block) {
    const GroupGradient& to = kernel.c[block.group];
    multiply_alone({.transpose_a = true,
                    .accumulate = to.accumulate,
                    .m = block.rows,
                    .n = block.columns,
                    .k = kernel.counts[block.group],
                    .a = element(kernel.a, block.start, block.row),
                    .a_stride = kernel.a.stride(0),
                    .b = element(kernel.b, block.start, block.column),
                    .b_stride = kernel.b.stride(0),
                    .c = element(to.gradient, block.row, block.column),
                    .c_stride = to.gradient.stride(0)});
  });
}

/// Products in half precision are planned for their sizes, so groups are cut into pieces of few
/// sizes: multiples of 512, powers of two from 16 on, and what is left.
Index piece_of(Index rows) {
  constexpr Index kWhole = 512, kSmall = 16;
  if (rows >= kWhole) {
    return rows / kWhole * kWhole;
  }
  return rows < kSmall ? rows
                       : static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(rows)));
}

/// Calls f(product) for the pieces of a product's rows; where a is transposed, of the rows that it
/// sums.
template <class F>
void for_pieces(const Matmul& whole, F&& f) {
  if (whole.transpose_a && whole.c.dtype != DType::f32) {
    return f(whole);  // pieces would round the sum between them
  }
  const Index rows = whole.a.size(0);
  for (Index begin = 0, end = 0; begin < rows; begin = end) {
    end = begin + piece_of(rows - begin);
    Matmul piece = whole;
    piece.a = device::slice(whole.a, 0, begin, end);
    if (whole.transpose_a) {
      piece.b = device::slice(whole.b, 0, begin, end);
      piece.accumulate = whole.accumulate || begin > 0;
    } else {
      piece.c = device::slice(whole.c, 0, begin, end);
    }
    f(piece);
  }
}

/// Calls f(product) for the kernel as products of one matrix each, in order.
template <class Kernel, class F>
void for_pieces_of_products(const Kernel& kernel, F&& f) {
  for_products(kernel, [&](const Matmul& product) { for_pieces(product, f); });
}

template <class Kernel>
Index bytes_of_products(const device::HostStream& stream, const Kernel& kernel) {
  Index bytes = 0;
  for_pieces_of_products(kernel, [&](const Matmul& product) {
    bytes = std::max(bytes, workspace_bytes(stream, product));
  });
  return bytes;
}

template <class Kernel>
void run_products(device::HostStream& stream, const Kernel& kernel) {
  for_pieces_of_products(kernel, [&](Matmul product) {
    product.workspace = kernel.workspace;
    run(stream, product);
  });
}

/// Whether the groups' blocks can be multiplied without plans for their sizes.
bool multiplies_blocks(const GroupedMatmul& kernel) {
  return kernel.a.dtype == DType::f32 && kernel.c.dtype == DType::f32;
}
bool multiplies_blocks(const GroupedWeightGradient& kernel) {
  return kernel.a.dtype == DType::f32 &&
         std::ranges::all_of(kernel.c, [](const GroupGradient& group) {
           return !group.gradient || group.gradient.dtype == DType::f32;
         });
}

}  // namespace
}  // namespace host

Index workspace_bytes(const device::HostStream& stream, const GroupedMatmul& kernel) {
  return host::multiplies_blocks(kernel) ? 0 : host::bytes_of_products(stream, kernel);
}

Index workspace_bytes(const device::HostStream& stream, const GroupedWeightGradient& kernel) {
  return host::multiplies_blocks(kernel) ? 0 : host::bytes_of_products(stream, kernel);
}

void run(device::HostStream& stream, const GroupedMatmul& kernel) {
  if (host::multiplies_blocks(kernel)) {
    host::multiply_groups(kernel);
  } else {
    host::run_products(stream, kernel);
  }
}

void run(device::HostStream& stream, const GroupedWeightGradient& kernel) {
  if (host::multiplies_blocks(kernel)) {
    host::add_up_groups(kernel);
  } else {
    host::run_products(stream, kernel);
  }
}

}  // namespace mpitron::kernels
