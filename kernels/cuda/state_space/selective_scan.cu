// Numerical contract: that of selective_scan.h; products as block_product.cuh has them, in pieces
// of up to 64 positions of a chunk.
#include "kernels/cuda/state_space/scan.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::scan;

template <class T>
struct Outputs {
  Inputs<T> in;
  const float* states;  // before each piece
  Positions<T> y;
};

template <class T>
struct OutputRoom {
  Fading fading;
  Tile<float> y;  // in the place of b, once there are pairs
  Tile<T> b, c, x;
  Tile<float> state, pairs;

  constexpr OutputRoom(SharedRoom& room, Index n, Index p)
      : fading(room),
        y{room.numbers<float>(
              std::max(Tile<float>::elements_of(kPiece, p), Tile<T>::elements_of(kPiece, n))),
          Tile<float>::stride_of(p)},
        b{reinterpret_cast<T*>(y.data), Tile<T>::stride_of(n)},
        c(room.tile<T>(kPiece, n)),
        x(room.tile<T>(kPiece, p)),
        state(room.tile<float>(n, p)),
        pairs(room.tile<float>(kPiece, kPiece)) {}
};

/// y of a head in a piece: what the state before gives, and what its positions give each other.
template <class T>
__global__ __launch_bounds__(kProductThreads) void scan_outputs(
    const __grid_constant__ Outputs<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const Inputs<T>& in = a.in;
  const OutputRoom<T> room(memory, in.n, in.p);
  const Task task = Task::of_block();
  const Piece piece = in.pieces(task.piece);
  const int group = in.group_of(task.head);
  in.load_group(room.b, in.b, piece, task.sample, group);
  in.load_group(room.c, in.c, piece, task.sample, group);
  in.load_head(room.x, in.x, piece, task.sample, task.head);
  in.load_state(room.state, a.states + in.place(task.piece, task.sample, task.head) * in.state());
  in.fade(room.fading, piece, task.sample, task.head);
  for_tiles(kPiece, kPiece, [&](TileSums& sums) {
    sums.add(whole(in.n), room.c.factor(), room.b.factor().turned());
    sums.each_sum([&](int i, int k, float score) {
      room.pairs(i, k) = score * room.fading.left(i, k) * room.fading.step[k];
    });
  });
  __syncthreads();
  const float skip = in.number(in.d, task.head);
  for_tiles(kPiece, in.p, [&](TileSums& sums) {
    sums.add(whole(in.n), room.c.factor(), room.state.factor());
    sums.each_sum([&](int i, int, float& sum) { sum *= room.fading.from_before[i]; });
    sums.add(kPiece, room.pairs.factor(), room.x.factor());
    sums.each_sum([&](int i, int j, float sum) {
      room.y(i, j) = sum + skip * static_cast<float>(room.x(i, j));
    });
  });
  __syncthreads();
  store_tile(room.y, TileRows{piece.count, in.p, in.packed_p && a.y.packed, [&](int i) {
                                return a.y.at(piece.first + i, task.sample) +
                                       Index{task.head} * in.p;
                              }});
}

}  // namespace

void run(device::CudaStream& stream, const SelectiveScanForward& k) {
  MPITRON_CHECK(k.workspace.bytes() >= workspace_bytes(stream, k), k.workspace.bytes());
  visit_element(k.in.x.dtype, [&]<class T>() {
    const Inputs<T> in(k.in, k.chunk);
    const bool cut = in.pieces.of_chunk > 1;
    auto* const of_chunks = k.states.as<float>();
    auto* const workspace = static_cast<float*>(k.workspace.data);
    float* const states = cut ? workspace : of_chunks;
    float* const kept = cut ? workspace + in.numbers() * in.state() : workspace;
    make_states<false>(stream, k.name, PieceStates<T>{in, in.x, states, kept},
                       cut ? of_chunks : nullptr);
    SharedRoom room(nullptr);
    const OutputRoom<T> counted(room, in.n, in.p);
    launch(stream, k.name, {grid_of(in), kProductThreads, room.used()}, scan_outputs<T>,
           Outputs<T>{in, states, Positions<T>(k.y)});
  });
}

Index workspace_bytes(const device::CudaStream&, const SelectiveScanForward& k) {
  const Pieces pieces(k.in.x.size(0), k.chunk);
  const Index kept = pieces.count * k.in.x.size(1) * k.in.heads();
  const Index states = pieces.of_chunk > 1 ? kept * k.in.state_dim() * k.in.head_dim() : 0;
  return (kept + states) * static_cast<Index>(sizeof(float));
}

}  // namespace mpitron::kernels
