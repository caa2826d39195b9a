#include <filesystem>

#include "build_info.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/program.h"
#include "cli/show/help_pages.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron manual --prefix DIR`: writes manual pages and completions where man, bash, zsh and fish
// look below a prefix; `mpitron version`: the build fingerprint.

namespace mpitron::cli {

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  make_folder("--prefix", path.parent_path());
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

int manual(const Arguments& arguments) {
  std::string prefix;
  Flags flags("manual",
              "Writes manual pages and the completion of bash, zsh and fish below a prefix, where "
              "man and these shells look for them.");
  flags.option("--prefix", prefix, "folder that holds bin/ and share/, for example ~/.local");
  flags.required();
  if (!flags.parse(arguments)) {
    return 0;
  }
  const std::filesystem::path share = std::filesystem::path(prefix) / "share";
  const std::vector<HelpPage> pages = help_pages(commands());
  for (const HelpPage& page : pages) {
    write(share / "man/man1" / (man_name(page) + ".1"), man_page(page, build_info::kVersion));
  }
  write(share / "man/man1/mpitron.1", man_page_of_program(pages, build_info::kVersion));
  write(share / "bash-completion/completions/mpitron", bash_completion(pages));
  write(share / "bash-completion/completions/mpitron-cuda", bash_completion(pages));
  write(share / "zsh/site-functions/_mpitron", zsh_completion(pages));
  write(share / "fish/vendor_completions.d/mpitron.fish", fish_completion(pages));
  log::print(fmt::format("{} manual pages and three completions are below {}", pages.size() + 1,
                         share.string()));
  return 0;
}

int version(const Arguments& arguments) {
  Flags flags("version", "Prints the version and the build fingerprint.");
  if (!flags.parse(arguments)) {
    return 0;
  }
  log::print(fingerprint());
  return 0;
}

}  // namespace mpitron::cli
