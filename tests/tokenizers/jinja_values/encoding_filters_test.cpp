#include "tokenizers/jinja/rendered.h"

namespace mpitron::tokenizers::jinja {
namespace encoding_filters_test {

using test::expect_rendered;

TEST(EncodingFilters, WriteJson) {
  expect_rendered({
      {"{{ d | tojson }} {{ messages[1] | tojson }} {{ d | tojson(sort_keys=true) }} {{ d | "
       "tojson(separators=(',', ':')) }}",
       R"({"b": 1, "a": 2, "C": 3} {"role": "user", "content": "Grüße, \"x\"\n y", "name": "Bob"} {"C": 3, "a": 2, "b": 1} {"b":1,"a":2,"C":3})"},
      {"{{ tools | tojson(indent=2) }}",
       "[\n  {\n    \"function\": {\n      \"name\": \"find\",\n      \"parameters\": {\n        "
       "\"z\": 1,\n        \"a\": \"ä\"\n      }\n    }\n  }\n]"},
      {"{{ zz | tojson }}",
       "! chat template, line 1: Object of type Undefined is not JSON serializable"},
  });
}

}  // namespace encoding_filters_test
}  // namespace mpitron::tokenizers::jinja
