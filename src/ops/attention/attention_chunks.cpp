// Cuts an attention into those of its chunks, as views of its tensors: queries and keys of a chunk
// are neighbours on every rank, because positions rise with the rows.
#include "ops/attention/attention_chunks.h"

#include <algorithm>
#include <limits>

#include "kernels/attention/attention_views.h"
#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {
namespace {

using autograd::Context;
using device::ConstTensorView;
using device::TensorView;

/// Writes a value to all elements of a view, whatever its strides: a row is copied to each of its
/// rows.
void write_everywhere(Context& context, const TensorView& to, float value) {
  const tensor::Tensor row = context.empty({to.shape[to.shape.rank() - 1]}, to.dtype);
  context.launch(kernels::Fill{.x = row.view(), .value = value});
  device::Strides strides{};
  strides[static_cast<std::size_t>(to.shape.rank() - 1)] = 1;
  context.launch(
      kernels::Cast{.x = ConstTensorView(row.view().data, to.dtype, to.shape, strides), .y = to});
}

/// Cuts out what forward and backward have in common.
template <class Kernel>
Kernel inputs_of(Kernel kernel, const ChunkRows& rows) {
  const kernels::AttentionPositions all = kernels::positions_of(kernel);
  kernel.positions = {.queries = all.queries.from(rows.first_query),
                      .keys = all.keys.from(rows.first_key)};
  kernel.dropout.index.sequence = kernel.dropout.index.sequence.from(rows.first_query);
  kernel.q = slice(kernel.q, 0, rows.first_query, rows.end_query);
  kernel.k = slice(kernel.k, 0, rows.first_key, rows.end_key);
  kernel.v = slice(kernel.v, 0, rows.first_key, rows.end_key);
  kernel.o = slice(kernel.o, 0, rows.first_query, rows.end_query);
  kernel.lse = slice(kernel.lse, 2, rows.first_query, rows.end_query);
  if (kernel.mask && kernel.mask.size(1) > 1) {
    kernel.mask = slice(kernel.mask, 1, rows.first_query, rows.end_query);
  }
  return kernel;
}

kernels::AttentionForward cut_out(const kernels::AttentionForward& whole, const ChunkRows& rows) {
  return inputs_of(whole, rows);
}
kernels::AttentionBackward cut_out(const kernels::AttentionBackward& whole, const ChunkRows& rows) {
  kernels::AttentionBackward kernel = inputs_of(whole, rows);
  kernel.d_o = slice(whole.d_o, 0, rows.first_query, rows.end_query);
  kernel.dq = slice(whole.dq, 0, rows.first_query, rows.end_query);
  kernel.dk = slice(whole.dk, 0, rows.first_key, rows.end_key);
  kernel.dv = slice(whole.dv, 0, rows.first_key, rows.end_key);
  return kernel;
}

/// Writes the outputs of queries or keys that have nobody to meet here.
void write_nothing(Context& context, const kernels::AttentionForward& kernel) {
  if (kernel.q.size(0) > 0) {
    write_everywhere(context, kernel.o, 0);
    write_everywhere(context, kernel.lse, -std::numeric_limits<float>::infinity());
  }
}
void write_nothing(Context& context, const kernels::AttentionBackward& kernel) {
  if (kernel.q.size(0) > 0) {
    write_everywhere(context, kernel.dq, 0);
  } else {
    write_everywhere(context, kernel.dk, 0);
    write_everywhere(context, kernel.dv, 0);
  }
}

template <class Kernel>
void launch_parts(Context& context, const Kernel& whole, Index chunk) {
  std::vector<ChunkRows> parts;
  if (chunk > 0) {
    parts = chunk_rows(kernels::positions_of(whole), whole.q.size(0), whole.k.size(0), chunk);
  }
  if (parts.size() < 2) {
    context.launch_with_workspace(whole);
    return;
  }
  MPITRON_CHECK(!whole.bias, chunk);
  for (const ChunkRows& rows : parts) {
    const Kernel part = cut_out(whole, rows);
    if (rows.queries() == 0 || rows.keys() == 0) {
      write_nothing(context, part);
    } else {
      context.launch_with_workspace(part);
    }
  }
}

}  // namespace

std::vector<ChunkRows> chunk_rows(const kernels::AttentionPositions& positions, Index s, Index s_kv,
                                  Index chunk) {
  std::vector<ChunkRows> parts;
  ChunkRows rows;
  while (rows.end_query < s || rows.end_key < s_kv) {
    rows.first_query = rows.end_query;
    rows.first_key = rows.end_key;
    const Index query = rows.first_query < s ? positions.queries(rows.first_query) / chunk
                                             : std::numeric_limits<Index>::max();
    const Index key = rows.first_key < s_kv ? positions.keys(rows.first_key) / chunk : query;
    const Index behind = (std::min(query, key) + 1) * chunk;
    rows.end_query = std::clamp(positions.queries.count_before(behind), rows.first_query, s);
    rows.end_key = std::clamp(positions.keys.count_before(behind), rows.first_key, s_kv);
    parts.push_back(rows);
  }
  return parts;
}

void launch_in_chunks(Context& context, const kernels::AttentionForward& whole, Index chunk) {
  launch_parts(context, whole, chunk);
}
void launch_in_chunks(Context& context, const kernels::AttentionBackward& whole, Index chunk) {
  launch_parts(context, whole, chunk);
}

}  // namespace mpitron::ops
