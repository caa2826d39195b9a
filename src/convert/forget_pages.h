#pragma once
#include <cstddef>
#include <span>

namespace mpitron::convert {

/// Gives the memory behind a part of a mapped file back: it stays readable, from the file again.
void forget_pages(std::span<const std::byte> mapped);

}  // namespace mpitron::convert
