#include "io/arrays/torch_archive.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "utils/error.h"

// What torch.save writes: a zip archive of a pickle and one entry for each storage. The pickle's
// tree is read for tensors and plain values; everything else in it is passed over.

namespace mpitron::io {
namespace {

using Kind = PickleValue::Kind;
constexpr const char *kTensor = "torch._utils._rebuild_tensor_v2",
                     *kParameter = "torch._utils._rebuild_parameter";

constexpr std::pair<std::string_view, ElementType> kStorages[] = {
    {"torch.FloatStorage", ElementType::f32}, {"torch.DoubleStorage", ElementType::f64},
    {"torch.HalfStorage", ElementType::f16},  {"torch.BFloat16Storage", ElementType::bf16},
    {"torch.LongStorage", ElementType::i64},  {"torch.IntStorage", ElementType::i32},
    {"torch.ShortStorage", ElementType::i16}, {"torch.CharStorage", ElementType::i8},
    {"torch.ByteStorage", ElementType::u8},   {"torch.BoolStorage", ElementType::boolean},
};

std::string folder_of(const ZipArchive& zip) {
  for (const auto& [name, bytes] : zip.entries()) {
    if (name.ends_with("/data.pkl")) {
      return name.substr(0, name.size() - std::strlen("data.pkl"));
    }
  }
  throw_data("{}: a zip archive without data.pkl: not written by torch.save", zip.source());
}

void check_byte_order(const ZipArchive& zip, const std::string& folder) {
  const auto found = zip.entries().find(folder + "byteorder");
  if (found != zip.entries().end() && found->second.size() == 3) {  // "big", not "little"
    throw_data("{}: written on a big-endian machine; save it again on a little-endian one",
               zip.source());
  }
}

/// The elements from the first to the last that a view touches; -1 where that does not fit.
Index touched(const TorchTensor& tensor) {
  Index count = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    Index step = 0;
    if (tensor.shape[i] == 0) {
      return 0;
    }
    if (__builtin_mul_overflow(tensor.shape[i] - 1, tensor.stride[i], &step) ||
        __builtin_add_overflow(count, step, &count)) {
      return -1;
    }
  }
  return count;
}

/// Number of elements; -1 where it is more than `limit`, or where the extents other than 0, which
/// whoever walks over them multiplies, overflow.
Index bounded_numel(const std::vector<Index>& shape, Index limit) {
  Index numel = 1;
  bool empty = false;
  for (const Index extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(numel, extent, &numel)) {
      return -1;
    }
  }
  return empty ? 0 : (numel > limit ? -1 : numel);
}

}  // namespace

TorchArchive::TorchArchive(std::span<const std::byte> bytes, const std::string& source)
    : zip_(bytes, source), prefix_(folder_of(zip_)), pickle_(entry("data.pkl"), source) {
  check_byte_order(zip_, prefix_);
}

std::span<const std::byte> TorchArchive::entry(std::string_view name) const {
  return zip_.at(prefix_ + std::string(name));
}

TorchTensor TorchArchive::tensor(const PickleValue& value, std::string_view what) const {
  const PickleValue* call = &value;
  if (value.is_object_of(kParameter) && !value.arguments->items.empty()) {
    call = value.arguments->items[0];
  }
  if (!call->is_object_of(kTensor)) {
    const std::string global = call->global_name();
    throw_data("{}: {} is no plain tensor{}; allowed: {}", source(), what,
               global.empty() ? "" : fmt::format(", it would need {}, which is not run", global),
               kTensor);
  }
  const auto broken = [&](std::string_view why) {
    throw_data("{}: {}: {}: corrupt", source(), what, why);
  };
  const auto& arguments = call->arguments->items;  // storage, offset, size, stride, ...
  TorchTensor result;
  if (arguments.size() < 4 || arguments[0]->kind != Kind::persistent ||
      arguments[1]->kind != Kind::integer || arguments[1]->integer < 0 ||
      !read_extents(*arguments[2], result.shape) || !read_extents(*arguments[3], result.stride) ||
      result.shape.size() != result.stride.size()) {
    broken("expected a storage, an offset, a size and strides");
  }
  const auto& id = arguments[0]->arguments->items;  // "storage", its class, its key, device, numel
  if (id.size() < 5 || id[2]->kind != Kind::text) {
    broken("expected class and key of a storage");
  }
  const std::string storage_class = id[1]->global_name();
  const auto* found =
      std::ranges::find(kStorages, storage_class, &std::pair<std::string_view, ElementType>::first);
  if (found == std::end(kStorages)) {
    throw_data("{}: {} has the storage class {}, which is not known", source(), what,
               storage_class);
  }
  result.type = found->second;
  const auto bytes = entry("data/" + std::string(id[2]->text));
  const auto held = static_cast<Index>(bytes.size() / size_of(result.type));
  const Index offset = arguments[1]->integer, span = touched(result);
  if (bounded_numel(result.shape, held) < 0 || span < 0 || offset > held || span > held - offset) {
    broken(fmt::format("it reaches outside its storage of {} elements", held));
  }
  result.storage = bytes.subspan(static_cast<std::size_t>(offset) * size_of(result.type));
  return result;
}

}  // namespace mpitron::io
