// Looks rows of an embedding table up, and adds their gradients, on the host. Ids are random to the
// processor, so the row of a later token is fetched while one is copied.
#include "kernels/elementwise/embedding.h"

#include <cstring>

#include "kernels/host/common/fetch_ahead.h"
#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// The row of the table that holds `id`, or null where another rank has it.
template <class T>
T* row_of(const Rows<T>& table, Index rows, Index id, Index first_row) {
  const Index row = id - first_row;
  return row >= 0 && row < rows ? table[row] : nullptr;
}

template <class T>
void embed(const EmbeddingForward& k) {
  const Rows<const T> table(k.table), positions(k.positions);
  const Rows<T> ys(k.y);
  const auto* ids = k.ids.as<std::int64_t>();
  const auto* position_ids = k.position_ids.as<std::int64_t>();
  const Index h = k.y.size(-1);
  const auto row_at = [&](Index token) {
    return row_of(table, k.table.size(0), ids[token], k.first_row);
  };
  const Index ahead = rows_ahead<T>(h);
  const bool streaming = should_stream(k.y, ys, k.table, k.positions);
  for_ranges(k.ids.numel(), k.y.numel(), [&](Index begin, Index end) {
    with_store(streaming, [&](auto store) {
      for (Index token = begin; token < end; ++token) {
        const T* row = row_at(token);
        // nothing else foresees which row is read
        const T* later = token + ahead < end ? row_at(token + ahead) : nullptr;
        const T* position = positions ? positions[position_ids[token]] : nullptr;
        T* y = ys[token];
        simd::for_lanes(h, [&](Index i, auto lanes) {
          if (later != nullptr) {
            fetch(later + i);
          }
          simd::Float value = row == nullptr ? simd::Float{} : simd::load(row + i, lanes);
          if (position != nullptr) {
            value += simd::load(position + i, lanes);
          }
          store(y + i, value, lanes);
        });
      }
    });
  });
}

/// Adds dy to the table's rows. Threads own columns, so that each row gets its tokens in order
/// whoever adds them and however often a token occurs; without that, bits would depend on the
/// number of threads.
template <class T, class Td>
void embed_backward(const EmbeddingBackward& k) {
  constexpr Index kColumns = 64;
  const Rows<const T> dys(k.dy);
  const Rows<Td> dtable(k.dtable);
  const auto* ids = k.ids.as<std::int64_t>();
  const Index h = k.dy.size(-1), blocks = (h + kColumns - 1) / kColumns;
  for_ranges(blocks, k.dy.numel(), [&](Index first, Index last) {
    const Index begin = first * kColumns, columns = std::min(h, last * kColumns) - begin;
    for (Index token = 0; token < k.ids.numel(); ++token) {
      Td* row = row_of(dtable, k.dtable.size(0), ids[token], k.first_row);
      // Rows of other ranks' shares of the vocabulary are left out.
      if (row == nullptr) {
        continue;
      }
      const T* dy = dys[token] + begin;
      simd::for_lanes(columns, [&](Index i, auto lanes) {
        simd::store(row + begin + i, simd::load(row + begin + i, lanes) + simd::load(dy + i, lanes),
                    lanes);
      });
    }
  });
}

/// Zeroes a table before the first microbatch of a step.
void zero(const device::TensorView& view) {
  visit_dtype(view.dtype, [&]<class T>() {
    const Rows<T> rows(view);
    const bool streaming = should_stream(view, rows);
    for_ranges(view.size(0), view.numel(), [&](Index begin, Index end) {
      with_store(streaming, [&](auto store) {
        for (Index row = begin; row < end; ++row) {
          simd::for_lanes(view.size(-1),
                          [&](Index i, auto lanes) { store(rows[row] + i, simd::Float{}, lanes); });
        }
      });
    });
  });
}

}  // namespace

void run(device::HostStream&, const EmbeddingForward& k) {
  MPITRON_CHECK(k.table.dtype == k.y.dtype, name_of(k.table.dtype), name_of(k.y.dtype));
  visit_dtype(k.y.dtype, [&]<class T>() { embed<T>(k); });
}

void run(device::HostStream&, const EmbeddingBackward& k) {
  MPITRON_CHECK(k.dtable.dtype == k.dy.dtype || k.dtable.dtype == DType::f32,
                name_of(k.dtable.dtype));
  if (!k.accumulate) {
    zero(k.dtable);
  }
  visit_dtypes(k.dy.dtype, k.dtable.dtype, [&]<class T, class Td>() { embed_backward<T, Td>(k); });
}

}  // namespace mpitron::kernels
