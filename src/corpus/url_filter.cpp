#include "corpus/url_filter.h"

#include <algorithm>
#include <iterator>

// Judges pages by their addresses, with lists of domains and endings that hold no prose.

namespace mpitron::corpus {
namespace {

constexpr std::size_t kShortestUrl = 9;

// Names without their public suffix.
constexpr std::string_view kDomains[] = {
    // pictures
    "500px", "artstation", "deviantart", "fbcdn", "flickr", "gfycat", "giphy", "gyazo",
    "imageshack", "imgflip", "imgur", "instagram", "minus", "photobucket", "pinimg", "pinterest",
    "pixiv", "prntscr", "quickmeme", "redditmedia", "reddituploads", "tinypic", "twimg",
    "memegenerator", "livememe", "gifsoup", "gifsound", "explosm", "xkcd", "kym-cdn", "qkme",
    "tumblr", "akamaihd",
    // sound and videos
    "bandcamp", "dailymotion", "liveleak", "nocookie", "soundcloud", "soundgasm", "spotify",
    "streamable", "twitch", "vid", "vimeo", "vine", "vocaroo", "youtu", "youtube", "youtubedoubler",
    "ytimg", "netflix", "tiktok",
    // short messages and forums
    "discord", "discordapp", "facebook", "redd", "reddit", "reddit-stream", "redditlog",
    "strawpoll", "twitter", "t.me", "whatsapp", "snapchat",
    // shops, programs, files
    "amazon", "apple", "dropbox", "ebay", "edealinfo", "github", "google", "hotdealstar", "lmgtfy",
    "pcpartpicker", "timeanddate", "walmart", "aliexpress", "etsy",
    // encyclopaedias, which corpora have by themselves
    "wikimedia", "wikipedia",
    // not for every reader
    "erome", "e621", "furaffinity", "imagefap", "pornhub", "redtube", "spankbang", "xhamster"};

constexpr std::string_view kExtensions[] = {
    ".3gp",  ".7z",   ".ai",  ".aif",  ".apk",  ".app", ".avi",  ".bin",    ".bmp",  ".bz2",
    ".css",  ".csv",  ".dat", ".deb",  ".dmg",  ".doc", ".docx", ".epub",   ".exe",  ".flac",
    ".gif",  ".gifv", ".gz",  ".ico",  ".iso",  ".jar", ".jpeg", ".jpg",    ".js",   ".json",
    ".log",  ".m4a",  ".m4v", ".mid",  ".midi", ".mkv", ".mov",  ".mp3",    ".mp4",  ".mpeg",
    ".mpg",  ".msi",  ".ogg", ".ogv",  ".otf",  ".pdf", ".pkg",  ".png",    ".pps",  ".ppt",
    ".pptx", ".ps",   ".psd", ".py",   ".qt",   ".ram", ".rar",  ".rpm",    ".sql",  ".svg",
    ".swf",  ".tar",  ".tgz", ".tiff", ".ttf",  ".txt", ".wav",  ".webm",   ".webp", ".wma",
    ".wmv",  ".woff", ".xls", ".xlsx", ".xml",  ".xz",  ".zip",  ".torrent"};

/// Second-level names under which a country gives out domains: example.co.uk is one domain.
constexpr std::string_view kSecondLevel[] = {"co",  "com", "org", "net", "ac",
                                             "gov", "edu", "or",  "ne"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
  });
  return result;
}

/// Returns "example.co.uk" of "www.example.co.uk".
std::string registered_domain(const std::string& host) {
  std::vector<std::size_t> dots;  // where the labels begin
  dots.push_back(0);
  for (std::size_t at = host.find('.'); at != std::string::npos; at = host.find('.', at + 1)) {
    dots.push_back(at + 1);
  }
  std::size_t labels = 2;
  if (dots.size() >= 3) {
    const std::string second =
        host.substr(dots[dots.size() - 2], dots[dots.size() - 1] - dots[dots.size() - 2] - 1);
    const bool country = host.size() - dots.back() == 2;
    labels += country && std::ranges::find(kSecondLevel, second) != std::end(kSecondLevel);
  }
  return dots.size() <= labels ? host : host.substr(dots[dots.size() - labels]);
}

}  // namespace

/// Joins the built-in names and the given ones; a domain stands for all its subdomains.
UrlFilter::UrlFilter(const std::vector<std::string>& more_domains) {
  for (const std::string_view domain : kDomains) {
    domains_.emplace(domain);
  }
  for (const std::string& domain : more_domains) {
    domains_.insert(lower(domain));
  }
}

/// Compares in lower case; lists are those of the reference's cleanup tools.
UrlVerdict UrlFilter::check(std::string_view given) const {
  const std::string url = lower(given);
  if (url.size() < kShortestUrl) {
    return UrlVerdict::too_short;
  }
  const std::size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  const std::size_t host_end = std::min(url.find_first_of("/?#", scheme), url.size());
  std::string host = url.substr(scheme, host_end - scheme);
  host.erase(0, host.rfind('@') + 1);
  host.erase(std::min(host.find(':'), host.size()));
  const bool clean = std::ranges::all_of(url, [](unsigned char c) { return c > ' ' && c != 0x7F; });
  if (scheme == 0 || !clean || host.find('.') == std::string::npos || host.starts_with('.') ||
      host.ends_with('.') || host.find("..") != std::string::npos) {
    return UrlVerdict::malformed;
  }
  const std::string path = url.substr(host_end, url.find_first_of("?#", host_end) - host_end);
  for (const std::string_view extension : kExtensions) {
    if (path.ends_with(extension)) {
      return UrlVerdict::bad_extension;
    }
  }
  const std::string domain = registered_domain(host);
  return domains_.contains(domain) || domains_.contains(domain.substr(0, domain.find('.')))
             ? UrlVerdict::bad_domain
             : UrlVerdict::good;
}

}  // namespace mpitron::corpus
