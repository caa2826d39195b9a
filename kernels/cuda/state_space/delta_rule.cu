// Numerical contract: that of delta_rule.h; products as block_product.cuh has them. A block walks
// over the pieces of a sample with 64 columns of a head's state.
#include "kernels/cuda/state_space/delta_walk.cuh"

namespace mpitron::kernels {
namespace {

using namespace cuda;
using namespace cuda::delta;

template <class T>
struct Walk {
  Inputs<T> in;
  Pairs pairs;
  Positions<T> o;
  float* states;  // [pieces b, heads, k, v]: before each piece
};

template <class T>
class Walker : SliceWalker<T> {
  using SliceWalker<T>::in_, SliceWalker<T>::room_, SliceWalker<T>::slice_, SliceWalker<T>::head_,
      SliceWalker<T>::sample_;

 public:
  __device__ Walker(const Walk<T>& a, const AddedRoom& room)
      : SliceWalker<T>(a.in, a.pairs, room), a_(a) {}

  __device__ void run() const {
    this->clear_state();
    for (Index number = 0; number < in_.pieces.count; ++number) {
      __syncthreads();  // the state is whole
      run_piece(in_.pieces(number));
    }
  }

 private:
  __device__ void run_piece(const Piece& piece) const {
    this->begin_piece(piece, a_.states);
    room_.add(in_, piece, sample_, head_, slice_);
    const Fading& fading = room_.fading;
    for_tiles(kPiece, kColumns, [&](TileSums& sums) {
      sums.add(whole(in_.keys), room_.q.factor(), room_.state.factor());
      sums.each_sum([&](int i, int, float& sum) { sum *= in_.scale() * fading.from_before[i]; });
      sums.add(kPiece, room_.seen.factor(), room_.added.factor());
      sums.each_sum([&](int i, int j, float sum) { room_.given(i, j) = sum; });
    });
    __syncthreads();
    store_tile(room_.given, rows_of_slice(a_.o, piece, sample_, head_, in_.values, slice_));
    weigh_rows(room_.added, [&](int i) { return fading.to_end[i]; });
    __syncthreads();
    const float kept = fading.from_before[piece.count - 1];
    for_tiles(in_.keys, kColumns, [&](TileSums& sums) {
      sums.add(kPiece, room_.k.factor().turned(), room_.added.factor());
      sums.each_sum(
          [&](int i, int j, float sum) { room_.state(i, j) = kept * room_.state(i, j) + sum; });
    });
  }

  const Walk<T>& a_;
};

template <class T>
__global__ __launch_bounds__(kProductThreads) void delta_walk(const __grid_constant__ Walk<T> a) {
  SharedRoom memory(dynamic_shared<std::byte>());
  const AddedRoom room(memory, a.in.keys);
  Walker<T>(a, room).run();
}

Index pairs_of(const DeltaRuleForward& k) {
  return Pieces(k.in.q.size(0), k.chunk).count * k.in.q.size(1) * k.in.value_heads() * kPairs;
}

}  // namespace

void run(device::CudaStream& stream, const DeltaRuleForward& k) {
  MPITRON_CHECK(k.workspace.bytes() >= workspace_bytes(stream, k), k.workspace.bytes());
  auto* const workspace = static_cast<float*>(k.workspace.data);
  const Pairs pairs{workspace, workspace + pairs_of(k)};
  visit_element(k.in.q.dtype, [&]<class T>() {
    const Inputs<T> in(k.in, k.chunk);
    make_pairs(stream, k.name, in, pairs);
    SharedRoom room(nullptr);
    const AddedRoom counted(room, in.keys);
    const dim3 grid(static_cast<unsigned>(in.heads * in.slices()),
                    static_cast<unsigned>(in.samples));
    launch(stream, k.name, {grid, kProductThreads, room.used()}, delta_walk<T>,
           Walk<T>{in, pairs, Positions<T>(k.o), k.states.as<float>()});
  });
}

Index workspace_bytes(const device::CudaStream&, const DeltaRuleForward& k) {
  return 2 * pairs_of(k) * static_cast<Index>(sizeof(float));
}

}  // namespace mpitron::kernels
