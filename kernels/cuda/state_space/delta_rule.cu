// Numerical contract: that of delta_rule.h; products as block_product.cuh has them. A block walks
// over the pieces of a sample with 64 columns of a head's state.
#include "kernels/cuda/state_space/delta.cuh"

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
class Walker {
 public:
  __device__ Walker(const Walk<T>& a, const AddedRoom& room)
      : a_(a),
        in_(a.in),
        room_(room),
        slice_(a.in, static_cast<int>(blockIdx.x) % a.in.slices()),
        head_(static_cast<int>(blockIdx.x) / a.in.slices()),
        sample_(static_cast<int>(blockIdx.y)) {}

  __device__ void run() const {
    for (int e = static_cast<int>(threadIdx.x); e < whole(in_.keys) * kColumns;
         e += kProductThreads) {
      room_.state(e / kColumns, e % kColumns) = 0;
    }
    for (Index number = 0; number < in_.pieces.count; ++number) {
      __syncthreads();  // the state is whole
      run_piece(in_.pieces(number));
    }
  }

 private:
  __device__ void run_piece(const Piece& piece) const {
    const Index place = in_.place(piece.number, sample_, head_);
    store_tile(room_.state,
               rows_of_state(a_.states + place * in_.state(), in_.keys, in_.values, slice_));
    in_.load_unit(room_.q, in_.q, piece, sample_, head_);
    in_.load_unit(room_.k, in_.k, piece, sample_, head_);
    load_tile(room_.inverse, kPiece, rows_of_pairs<const float>(a_.pairs.inverse + place * kPairs));
    load_tile(room_.seen, kPiece, rows_of_pairs<const float>(a_.pairs.seen + place * kPairs));
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
  const Inputs<T>& in_;
  const AddedRoom& room_;
  const Slice slice_;
  const int head_, sample_;
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
