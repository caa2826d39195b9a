#pragma once
#include <string>
#include <string_view>

namespace mpitron::report {

/// Text as it may stand between tags and in quoted attributes.
std::string html_text(std::string_view text);

/// JSON as it may stand inside a script element: no text of it can end the element.
std::string script_json(std::string_view json);

/// A whole page without any reference to another file, light or dark as the reader's system is.
/// `style`: CSS beside what all pages share; `body`: HTML.
std::string html_page(std::string_view title, std::string_view style, std::string_view body);

}  // namespace mpitron::report
