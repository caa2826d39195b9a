#include "inference/protocol/served_model.h"

#include <array>
#include <charconv>
#include <cmath>
#include <random>

#include "utils/text/utf8.h"

namespace mpitron::inference {

std::string ServedModel::token_text(TokenId id) const {
  return replace_invalid_utf8(tokenizer.decode(std::span(&id, 1)));
}

std::vector<std::string> ServedModel::segments(const TokenIds& ids) const {
  TextStream stream(tokenizer, {}, {});
  for (const TokenId id : ids) {
    stream.push(id);
  }
  stream.finish();
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t begin = stream.offsets()[i];
    const std::size_t end = i + 1 < ids.size() ? stream.offsets()[i + 1] : stream.text().size();
    pieces.push_back(stream.text().substr(begin, end - begin));
  }
  return pieces;
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

double shortest(float value) {
  if (!std::isfinite(value)) {
    return -9999;
  }
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  double result = 0;
  std::from_chars(text.data(), written.ptr, result);
  return result;
}

}  // namespace mpitron::inference
