#include "corpus/url_filter.h"

#include <gtest/gtest.h>

namespace mpitron::corpus {
namespace {

TEST(UrlFilterTest, SaysWhyAPageIsNoProse) {
  const UrlFilter filter({"Example.com", "spam"});
  const auto check = [&](std::string_view url) { return filter.check(url); };
  EXPECT_EQ(check("http://a.b"), UrlVerdict::good);
  EXPECT_EQ(check("https://blog.site.org/2019/story.html?x=a.jpg#b"), UrlVerdict::good);
  EXPECT_EQ(check("http://x"), UrlVerdict::too_short);
  EXPECT_EQ(check("ftp://site.org/a"), UrlVerdict::malformed);
  EXPECT_EQ(check("http://localhost/page"), UrlVerdict::malformed);
  EXPECT_EQ(check("http://site..org/page"), UrlVerdict::malformed);
  EXPECT_EQ(check("http://site.org/a page"), UrlVerdict::malformed);
  EXPECT_EQ(check("http://site.org/a/B.JPG"), UrlVerdict::bad_extension);
  EXPECT_EQ(check("http://site.org/b.pdf?download=1"), UrlVerdict::bad_extension);
  EXPECT_EQ(check("https://www.youtube.com/watch?v=1"), UrlVerdict::bad_domain);
  EXPECT_EQ(check("https://m.amazon.co.uk:443/x"), UrlVerdict::bad_domain);
  EXPECT_EQ(check("http://user@i.imgur.com/1"), UrlVerdict::bad_domain);
  EXPECT_EQ(check("http://youtube.site.org/x"),
            UrlVerdict::good);  // only the registered name counts
  EXPECT_EQ(check("http://www.example.com/"), UrlVerdict::bad_domain);
  EXPECT_EQ(check("http://www.example.org/"), UrlVerdict::good);
  EXPECT_EQ(check("http://www.spam.net/"), UrlVerdict::bad_domain);
}

}  // namespace
}  // namespace mpitron::corpus
