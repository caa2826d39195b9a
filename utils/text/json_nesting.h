#pragma once
#include <cstddef>
#include <string_view>

namespace mpitron {

/// Whether lists and objects of a JSON text lie in each other deeper than those of any real file.
/// To print, copy or compare such a value would overflow the stack: who does that with a value from
/// a file asks before parsing, and takes such a text for one that is not valid. Linear in the size
/// of the text, which need not be valid.
bool nests_too_deep(std::string_view json);

/// Whether there are more than `most` members in all objects together: an ordered object looks for
/// a name among all others before it takes one more.
bool has_many_members(std::string_view json, std::size_t most);

/// Whether a text is deeper or larger than any real file that is read into ordered objects.
bool unlike_real_objects(std::string_view json);

}  // namespace mpitron
