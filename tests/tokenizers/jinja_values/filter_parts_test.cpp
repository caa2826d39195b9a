#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace filter_parts_test {

using test::expect_rendered;

TEST(FilterParts, FollowPaths) {
  expect_rendered({
      {"{{ l | join(', ') }} {{ messages | join('-', attribute='role') }} {{ l | map('string') | "
       "list }} {{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }} {{ [[1, 2]] | "
       "map(attribute=0) | list }} {{ [{'a': 1}, {}] | map(attribute='a', default=9) | list }} {{ "
       "words | map('upper') | join }}",
       "3, 1, 2 system-user-assistant ['3', '1', '2'] [1] [1] [1, 9] BAC"},
  });
}

}  // namespace filter_parts_test
}  // namespace mpitron::tokenizers::jinja
