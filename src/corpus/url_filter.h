#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mpitron::corpus {

/// The first reason against an address, or good.
enum class UrlVerdict { good, malformed, too_short, bad_extension, bad_domain };

/// Decides by its address whether a page can hold prose (the first step of OpenWebText): not where
/// the address is no http(s) URL, has at most 8 characters, names a file that is no page, or lies
/// on a domain of pictures, videos, shops, programs or short messages.
class UrlFilter {
 public:
  /// Takes the built-in lists, and further domains ("example" or "example.com").
  explicit UrlFilter(const std::vector<std::string>& more_domains = {});

  UrlVerdict check(std::string_view url) const;

 private:
  std::unordered_set<std::string> domains_;
};

}  // namespace mpitron::corpus
