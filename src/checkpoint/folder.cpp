#include "checkpoint/folder.h"
#include <fstream>
#include <algorithm>
#include "utils/files.h"
#include "checkpoint/posix_file.h"
namespace mpitron::checkpoint {
namespace fs = std::filesystem;
static std::string name(Index i){ char b[32]; std::snprintf(b, sizeof b, "iter_%07ld", (long)i); return b; }
fs::path Folder::file(Index i) const { return root_ / name(i) / "checkpoint.h5"; }
fs::path Folder::unfinished_file(Index i) const { return root_ / (name(i)+".tmp") / "checkpoint.h5"; }
void Folder::begin(Index i) const { auto d = unfinished_file(i).parent_path(); fs::remove_all(d); fs::create_directories(d); }
void Folder::commit(Index i) const { auto d = unfinished_file(i).parent_path(); sync_folder(d); auto f = file(i).parent_path(); fs::remove_all(f); fs::rename(d, f); sync_folder(root_);
 AtomicFile t(root_ / "latest_checkpointed_iteration.txt"); t.write(std::to_string(i)); t.commit(); }
std::vector<Index> Folder::iterations() const { std::vector<Index> r; if (!fs::exists(root_)) return r; for (auto& e : fs::directory_iterator(root_)) { auto n = e.path().filename().string(); if (n.rfind("iter_",0)==0 && n.find('.')==n.npos) r.push_back(std::stol(n.substr(5))); } std::sort(r.begin(), r.end()); return r; }
std::optional<Index> Folder::tracked() const { auto p = root_ / "latest_checkpointed_iteration.txt"; if (!fs::exists(p)) return {}; return std::stol(read_file(p)); }
}
#include "checkpoint/verify.h"
#include "utils/error.h"
namespace mpitron::checkpoint {
Choice newest_verified(const Folder& f) { Choice c; auto v = f.iterations(); for (auto i = v.rbegin(); i != v.rend(); ++i) { try { File x(f.file(*i)); auto r = verify(x); if (r.damaged.empty()) { c.iteration = *i; return c; } c.skipped.push_back(r.damaged[0].sentence()); } catch (const Error& e) { c.skipped.push_back(e.what()); } } return c; }
std::vector<Index> apply_retention(const Folder& f, const Retention& r, Index) { std::vector<Index> d; auto v = f.iterations(); Index n = v.size(); for (Index k = 0; k + 1 < n; ++k) { bool keep = false; if (r.retain_interval && v[k] % *r.retain_interval == 0) keep = true; if (r.keep_last && k >= n - *r.keep_last) keep = true; if (!keep) { std::filesystem::remove_all(f.file(v[k]).parent_path()); d.push_back(v[k]); } } return d; }
}
