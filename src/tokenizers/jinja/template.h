#pragma once
#include <memory>

#include "tokenizers/jinja_values/run.h"

namespace mpitron::tokenizers::jinja {

/// A Jinja template as chat templates are written: the environment of Hugging Face transformers
/// (trim_blocks and lstrip_blocks on), without what reads other templates. Const methods may run
/// on any number of threads at once.
class Template {
 public:
  /// Error(data) with line and construct for what is no template, or needs what is not there.
  explicit Template(std::string_view source);
  ~Template();
  Template(Template&&) noexcept;

  /// A rendering, and the parts of it that an assistant writes.
  struct Text {
    std::string text;
    std::vector<std::pair<std::size_t, std::size_t>> generated;  // bytes of generation blocks
  };
  /// Renders with `variables`, a dictionary. Error(data): the text that raise_exception was given,
  /// or what failed in which line, or the limit that was reached.
  Text render(const Value& variables, const Limits& limits = {}) const;

 private:
  std::unique_ptr<const Block> statements_;
};

}  // namespace mpitron::tokenizers::jinja
