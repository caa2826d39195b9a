#include "corpus/url_filter.h"

#include <gtest/gtest.h>

namespace mpitron::corpus {
namespace url_filter_test {

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

TEST(UrlFilterTest, TheShortestUrlHasNineCharacters) {
  const UrlFilter filter;
  EXPECT_EQ(filter.check(""), UrlVerdict::too_short);
  EXPECT_EQ(filter.check("x.org/ab"), UrlVerdict::too_short);
  EXPECT_EQ(filter.check("http://ab"), UrlVerdict::malformed);  // long enough, but no domain
  EXPECT_EQ(filter.check("x.org/abc"), UrlVerdict::malformed);  // long enough, but no scheme
}

TEST(UrlFilterTest, FindsMalformedAddresses) {
  const UrlFilter filter;
  for (const std::string_view url :
       {"http:/site.org/", "https:site.org/a", "//site.org/page", "mailto:a@site.org",
        "http:///site.org", "http://.site.org/", "http://site.org./", "http://?site.org",
        "http://site.org/\ta", "http://site.org/\x7F", "http://site.org/a\n", " http://site.org/",
        "http://site.org@local/", "http://local:80.org/", "http://site#.org"}) {
    EXPECT_EQ(filter.check(url), UrlVerdict::malformed) << url;
  }
  EXPECT_EQ(filter.check(std::string_view("http://site.org/\0a", 18)), UrlVerdict::malformed);
}

TEST(UrlFilterTest, OnlyThePathNamesAFile) {
  const UrlFilter filter;
  for (const std::string_view url :
       {"http://site.ai", "http://site.py?x", "http://site.org#a.zip", "http://site.org/a.pdf/",
        "http://site.org/?file=b.mp3", "http://site.org/guitar", "http://site.org/a.jpg.html",
        "http://site.org/caf\xC3\xA9", "http://192.168.10.20:8080/x", "HTTPS://SITE.ORG/A.HTML"}) {
    EXPECT_EQ(filter.check(url), UrlVerdict::good) << url;
  }
  for (const std::string_view url :
       {"http://site.org/.txt", "http://site.org/a.tar.gz", "https://site.org/A.Torrent#top",
        "http://site.org/a.html.7z?b#c", "http://imgur.com/a.png"}) {  // asked before the domain
    EXPECT_EQ(filter.check(url), UrlVerdict::bad_extension) << url;
  }
}

TEST(UrlFilterTest, KnowsTheRegisteredDomain) {
  const UrlFilter filter({"shop.co.uk", "UPPER", "only.de"});
  for (const std::string_view url :
       {"http://shop.co.uk/", "http://a.b.shop.co.uk/x", "http://upper.com.br/", "https://t.me/abc",
        "http://www.only.de?x", "http://google.co.jp", "http://redd.it/1", "http://a.github.io/",
        "http://a@b:c@imgur.com:80/", "HTTP://WWW.FLICKR.COM", "http://en.wikipedia.org#History"}) {
    EXPECT_EQ(filter.check(url), UrlVerdict::bad_domain) << url;
  }
  for (const std::string_view url :
       {"http://shop.org.uk/", "http://shop.com/", "http://only.com/", "http://only.co.de/",
        "http://upper.site.de/", "http://imgur.com.site.org/", "http://imgur.com@site.org/",
        "http://notimgur.com/", "http://x.me/t.me", "http://co.uk"}) {
    EXPECT_EQ(filter.check(url), UrlVerdict::good) << url;
  }
  EXPECT_EQ(UrlFilter().check("http://shop.co.uk/"), UrlVerdict::good);  // not built in
}

}  // namespace url_filter_test
}  // namespace mpitron::corpus
