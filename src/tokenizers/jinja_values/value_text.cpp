#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tokenizers/jinja_values/operators.h"
#include "tokenizers/jinja_values/python_text.h"
#include "utils/text/utf8.h"

// Values as text: Python's str and repr, json.dumps, and `format % values`. Templates are compared
// with what transformers renders, so every form follows Python to the character.

namespace mpitron::tokenizers::jinja {
namespace {

/// Writes a value that holds no others as Python's repr does.
std::string scalar_text(const Value& value) {
  if (value.is_bool()) {
    return value.truthy() ? "True" : "False";
  }
  if (value.is_integer()) {
    return fmt::format("{}", value.integer());
  }
  return value.is_real() ? decimal(value.real()) : value.is_none() ? "None" : "Undefined";
}

/// Writes [a, b] or (a, b), with the comma of a tuple of one: (a,).
std::string list_text(Run& run, const Value& value) {
  std::string text(1, value.is_tuple() ? '(' : '[');
  for (const Value& each : *value.list()) {
    text += (text.size() > 1 ? ", " : "") + repr_of(run, each);
  }
  text += value.is_tuple() && value.list()->size() == 1 ? "," : "";
  return text + (value.is_tuple() ? ')' : ']');
}

std::string dict_text(Run& run, const Dict& dict) {
  std::string text = "{";
  for (const auto& [key, each] : dict.items()) {
    text += (text.size() > 1 ? ", " : "") + repr_of(run, key) + ": " + repr_of(run, each);
  }
  return text + "}";
}

/// Escapes as json.dumps does; characters beyond U+FFFF become two surrogates in ASCII.
std::string json_text(std::string_view text, bool ascii) {
  std::string result = "\"";
  while (!text.empty()) {
    const Utf8Char c = decode_utf8(text);
    const auto size = static_cast<std::size_t>(std::max(1, c.bytes));
    constexpr std::string_view kPlain = "\"\\\n\r\t\b\f", kNames = "\"\\nrtbf";
    if (const std::size_t at = size == 1 ? kPlain.find(text.front()) : std::string_view::npos;
        at != std::string_view::npos) {
      result += '\\';
      result += kNames[at];
    } else if (c.code_point < 0x20 || (ascii && c.code_point > 0x7E && c.code_point < 0x10000)) {
      result += fmt::format("\\u{:04x}", c.code_point);
    } else if (ascii && c.code_point >= 0x10000) {
      result += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (c.code_point >> 10),
                            0xDC00 + (c.code_point & 0x3FF));
    } else {
      result += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return result + "\"";
}

/// Writes what JSON has no word for as Python's json does.
std::string json_number(double value) {
  return std::isnan(value)   ? "NaN"
         : std::isinf(value) ? value > 0 ? "Infinity" : "-Infinity"
                             : decimal(value);
}

/// Writes JSON, one level further in for each list or object; every value counts as a step.
class JsonWriter {
 public:
  JsonWriter(Run& run, const JsonStyle& style) : run_(run), style_(style) {}

  std::string take() { return std::move(text_); }

  void write(const Value& value, int level) {
    run_.spend();
    run_.deeper([&] {
      if (const std::string* text = value.text()) {
        run_.spend(text->size() / 32);
        text_ += json_text(*text, style_.ascii);
      } else if (value.is_bool() || value.is_none()) {
        text_ += value.is_none() ? "null" : value.truthy() ? "true" : "false";
      } else if (value.is_number()) {
        text_ += value.is_real() ? json_number(value.real()) : fmt::format("{}", value.integer());
      } else if (const List* list = value.list()) {
        write_all('[', ']', *list, level, [&](const Value& each) { write(each, level + 1); });
      } else if (value.dict() != nullptr) {
        write_dict(*value.dict(), level);
      } else {
        throw Fault(fmt::format("Object of type {} is not JSON serializable", value.type_name()));
      }
    });
  }

 private:
  /// Keys that are no texts are written as JSON inside quotes, as json.dumps converts them.
  void write_dict(const Dict& dict, int level) {
    auto items = dict.items();
    if (style_.sorted) {
      std::ranges::stable_sort(
          items, [&](const auto& a, const auto& b) { return less(run_, a.first, b.first); });
    }
    write_all('{', '}', items, level, [&](const auto& item) {
      const Value& key = item.first;
      if (key.list() != nullptr) {
        throw Fault("keys must be str, int, float, bool or None, not tuple");
      }
      text_ += key.text() != nullptr ? json_text(*key.text(), style_.ascii) : "\"";
      if (key.text() == nullptr) {
        write(key, level);
        text_ += '"';
      }
      text_ += style_.behind_key;
      write(item.second, level + 1);
    });
  }

  /// Writes items between brackets, with line breaks where the style indents; empty brackets stay
  /// together.
  template <class Items, class Write>
  void write_all(char open, char close, const Items& items, int level, Write&& write_one) {
    text_ += open;
    bool first = true;
    for (const auto& each : items) {
      text_ += std::exchange(first, false) ? "" : style_.between;
      break_line(level + 1);
      write_one(each);
    }
    if (!items.empty()) {
      break_line(level);
    }
    text_ += close;
  }

  void break_line(int level) {
    if (style_.indent) {
      text_ += '\n';
      for (int i = 0; i < level; ++i) {
        text_ += *style_.indent;
      }
      run_.spend(static_cast<std::size_t>(level) * style_.indent->size() / 32);
    }
  }

  Run& run_;
  const JsonStyle& style_;
  std::string text_;
};

/// A conversion of a format, as `%-10.3f` or `%(key)s`.
struct Conversion {
  std::string key;
  std::string flags;
  std::optional<std::int64_t> width, precision;
  char kind = 0;
};

/// Formats from left to right; a tuple gives an argument to each conversion, a dictionary by its
/// key, and any other value is the only argument.
class PercentFormat {
 public:
  PercentFormat(Run& run, std::string_view format, const Value& values)
      : run_(run), rest_(format), values_(values) {}

  std::string write() {
    std::string text;
    for (std::size_t at; (at = rest_.find('%')) != std::string_view::npos;) {
      text += rest_.substr(0, at);
      rest_.remove_prefix(at + 1);
      const Conversion conversion = read();
      text += conversion.kind == '%' ? "%" : converted(conversion);
    }
    if (!values_.is_tuple() && values_.dict() == nullptr && used_ == 0) {
      throw Fault("not all arguments converted during string formatting");
    }
    if (values_.is_tuple() && used_ < values_.list()->size()) {
      throw Fault("not all arguments converted during string formatting");
    }
    return text.append(rest_);
  }

 private:
  /// Reads a conversion behind its %: (key), flags, width, precision, kind.
  Conversion read() {
    Conversion conversion;
    if (rest_.starts_with('(')) {
      const std::size_t end = rest_.find(')');
      if (end == std::string_view::npos) {
        throw Fault("incomplete format key");
      }
      conversion.key = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
    }
    const std::size_t flags = std::min(rest_.find_first_not_of("-+ 0#"), rest_.size());
    conversion.flags = rest_.substr(0, flags);
    rest_.remove_prefix(flags);
    conversion.width = read_number();
    if (rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      conversion.precision = read_number().value_or(0);
    }
    if (rest_.empty()) {
      throw Fault("incomplete format");
    }
    conversion.kind = rest_.front();
    rest_.remove_prefix(1);
    return conversion;
  }

  std::optional<std::int64_t> read_number() {
    const std::size_t size = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (size == 0) {
      return std::nullopt;
    }
    if (size > 4) {
      throw Fault("a width of a format is too large");
    }
    const std::int64_t number = std::stoll(std::string(rest_.substr(0, size)));
    rest_.remove_prefix(size);
    return number;
  }

  /// Returns the argument of a conversion: by its key, or the next of a tuple.
  Value argument(const Conversion& conversion) {
    if (!conversion.key.empty()) {
      const Value* found =
          values_.dict() != nullptr ? values_.dict()->find_name(conversion.key) : nullptr;
      if (found == nullptr) {
        throw Fault("format requires a mapping with the key " + conversion.key);
      }
      return *found;
    }
    const std::size_t index = used_++;
    if (values_.is_tuple() ? index >= values_.list()->size() : index > 0) {
      throw Fault("not enough arguments for format string");
    }
    return values_.is_tuple() ? (*values_.list())[index] : values_;
  }

  static double number(const Value& value, char kind) {
    if (!value.is_number()) {
      throw Fault(
          fmt::format("%{} format: a real number is required, not {}", kind, value.type_name()));
    }
    return value.real();
  }

  /// Formats an argument by its kind; a width is filled afterwards.
  std::string converted(const Conversion& conversion) {
    const Value value = argument(conversion);
    const int precision = static_cast<int>(conversion.precision.value_or(6));
    std::string text;
    switch (conversion.kind) {
      case 's':
      case 'r':
        text = conversion.kind == 's' ? text_of(run_, value) : repr_of(run_, value);
        if (conversion.precision) {
          text.resize(byte_of(text, *conversion.precision));
        }
        break;
      case 'd':
      case 'i':
      case 'u':
        text = value.is_integer()
                   ? fmt::format("{}", value.integer())
                   : fmt::format("{:.0f}", std::trunc(number(value, conversion.kind)));
        break;
      case 'x':
      case 'X':
      case 'o':
        number(value, conversion.kind);
        text = conversion.kind == 'x'   ? fmt::format("{:x}", value.integer())
               : conversion.kind == 'X' ? fmt::format("{:X}", value.integer())
                                        : fmt::format("{:o}", value.integer());
        break;
      case 'f':
      case 'F':
        text = fmt::format("{:.{}f}", number(value, conversion.kind), precision);
        break;
      case 'e':
        text = fmt::format("{:.{}e}", number(value, conversion.kind), precision);
        break;
      case 'g':
        text = fmt::format("{:.{}g}", number(value, conversion.kind), precision);
        break;
      default:
        throw Fault(fmt::format("unsupported format character '{}'", conversion.kind));
    }
    return padded(conversion, std::move(text), value.is_number());
  }

  /// Flags of numbers do not apply to %s and %r, whatever their value is.
  static std::string padded(const Conversion& conversion, std::string text, bool is_number) {
    const auto has = [&](char flag) { return conversion.flags.find(flag) != std::string::npos; };
    const bool numeric = is_number && conversion.kind != 's' && conversion.kind != 'r';
    if (numeric && !text.starts_with('-') && (has('+') || has(' '))) {
      text.insert(0, has('+') ? "+" : " ");
    }
    const std::int64_t missing = conversion.width.value_or(0) - characters(text);
    if (missing <= 0) {
      return text;
    }
    const auto count = static_cast<std::size_t>(missing);
    if (has('-')) {
      return text.append(count, ' ');
    }
    if (has('0') && numeric) {
      return text.insert(text.find_first_of("0123456789"), count, '0');
    }
    return text.insert(0, count, ' ');
  }

  Run& run_;
  std::string_view rest_;
  const Value& values_;
  std::size_t used_ = 0;
};

}  // namespace

/// An undefined value is an empty text, as in Jinja, and an error only where something is done with
/// it.
std::string text_of(Run& run, const Value& value) {
  if (value.is_undefined()) {
    return "";
  }
  return value.text() != nullptr ? *value.text() : repr_of(run, value);
}

/// Containers may hold themselves: the depth is limited.
std::string repr_of(Run& run, const Value& value) {
  run.spend();
  return run.deeper([&]() -> std::string {
    if (const std::string* text = value.text()) {
      run.spend(text->size() / 32);
      return literal_of(*text);
    }
    if (value.list() != nullptr) {
      return list_text(run, value);
    }
    if (const Dict* dict = value.dict()) {
      return dict_text(run, *dict);
    }
    return value.object() != nullptr ? value.object()->text() : scalar_text(value);
  });
}

std::string json_of(Run& run, const Value& value, const JsonStyle& style) {
  JsonWriter writer(run, style);
  writer.write(value, 0);
  return writer.take();
}

std::string percent_format(Run& run, const std::string& format, const Value& values) {
  return PercentFormat(run, format, values).write();
}

}  // namespace mpitron::tokenizers::jinja
