#include "tokenizers/jinja/template.h"

#include "tokenizers/jinja/template_parser.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

// The entry to the Jinja interpreter: a source is parsed once, and each rendering has a Run of its
// own. Syntax faults and faults of a run become Error(data) with the line.

namespace mpitron::tokenizers::jinja {
namespace {

/// Bytes of a template; published ones have some kilobytes.
constexpr std::size_t kLargest = std::size_t{1} << 20;

}  // namespace

Template::Template(std::string_view source) {
  if (source.size() > kLargest || !is_utf8(source)) {
    throw_data("a chat template is UTF-8 text of at most {} bytes", kLargest);
  }
  try {
    statements_ = std::make_unique<const Block>(TemplateParser(source).parse());
  } catch (const SyntaxFault& fault) {
    throw_data("chat template, line {}: {}", fault.line, fault.message);
  }
}

Template::~Template() = default;
Template::Template(Template&&) noexcept = default;

Template::Text Template::render(const Value& variables, const Limits& limits) const {
  Run run(variables, limits);
  try {
    define_functions(run);
    execute(run, *statements_);
  } catch (const Fault& fault) {
    if (fault.raised()) {
      throw Error(ExitCode::data, fault.what());
    }
    throw_data("chat template, line {}: {}", run.line, fault.what());
  }
  return {run.take_output(), run.generated()};
}

}  // namespace mpitron::tokenizers::jinja
