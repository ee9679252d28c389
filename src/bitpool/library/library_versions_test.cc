#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <thread>

#include "bitpool/base/random.h"
#include "bitpool/index/testing.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/library/picture_library.h"

// Every answer of a library is of one version, whatever other threads and processes do.
namespace bitpool {
namespace {

using testing::FakeEncode;
using testing::FakeEncoding;
using testing::FakePicture;
using testing::PictureFolder;
using testing::ReadContent;
using testing::ToBytes;

// What a library holds: codes by path.
using Content = std::map<std::string, uint64_t>;

uint64_t CodeOf(const CataloguedPicture& picture) {
  uint64_t code = 0;
  for (size_t i = 0; i < 8; ++i) code |= uint64_t{picture.code.at(i)} << (8 * i);
  return code;
}

Content ContentOf(const LibrarySnapshot& library) {
  Content content;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    content[picture.path] = CodeOf(picture);
  });
  return content;
}

// Every version that a library may have while it is updated, by generation.
class VersionModel {
 public:
  void Add(uint64_t generation, const Content& content) {
    const std::lock_guard lock(mutex_);
    versions_[generation] = content;
  }
  Content At(uint64_t generation) const {
    const std::lock_guard lock(mutex_);
    const auto version = versions_.find(generation);
    return version == versions_.end() ? Content{{"no such version", 0}} : version->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Content> versions_;
};

// The nearest by distance, found the plain way.
std::vector<std::pair<int, uint64_t>> Nearest(const LibrarySnapshot& library, uint64_t code,
                                              uint64_t without, size_t k) {
  std::vector<std::pair<int, uint64_t>> all;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (picture.id != without) all.emplace_back(std::popcount(CodeOf(picture) ^ code), picture.id);
  });
  std::ranges::sort(all);
  all.resize(std::min(k, all.size()));
  return all;
}

std::vector<std::pair<int, uint64_t>> Found(const std::vector<QueryMatch>& matches) {
  std::vector<std::pair<int, uint64_t>> found;
  for (const QueryMatch& match : matches) found.emplace_back(match.distance, match.picture.id);
  return found;
}

// A code whose bits all count the same, so that the score is the distance.
PictureCode PlainCode(uint64_t code) {
  PictureCode query = FakeEncode(ToBytes(FakePicture(code)));
  query.projection = query.projection.cwiseSign();
  return query;
}

// A code is asked about as a picture is: within one version.
QueryAnswer QueryPlain(const PictureLibrary& library, uint64_t code, const QueryOptions& options) {
  LibrarySnapshot snapshot = library.Snapshot();
  std::vector<QueryMatch> matches = QueryLibrary(snapshot, PlainCode(code), options, OneThread());
  return {.library = std::move(snapshot), .matches = std::move(matches)};
}

// Asks a library for as long as another thread updates it, and checks that each answer is that of
// exactly one version.
void AskUntil(const std::atomic<bool>& done, const PictureLibrary& library,
              const VersionModel& model, uint64_t seed) {
  Random random(seed);
  uint64_t last = 0;
  const auto check_version = [&](const LibrarySnapshot& snapshot) {
    const uint64_t generation = snapshot.catalogue().generation();
    EXPECT_GE(generation, last);  // never back
    last = generation;
    EXPECT_EQ(ContentOf(snapshot), model.At(generation)) << generation;
    EXPECT_EQ(static_cast<size_t>(snapshot.index().size()), model.At(generation).size());
  };
  while (!done && !::testing::Test::HasFailure()) {
    const uint64_t code = random.Next() & 0xFF;
    const QueryOptions options = {
        .k = 5, .order = random.Below(2) == 0 ? QueryOrder::kScore : QueryOrder::kHamming};
    const QueryAnswer answer = QueryPlain(library, code, options);
    check_version(answer.library);
    EXPECT_EQ(Found(answer.matches), Nearest(answer.library, code, 0, 5));
    if (answer.matches.empty()) continue;

    const uint64_t id = answer.matches.front().picture.id;
    try {
      const QueryAnswer like = library.QueryId(id, options, OneThread());
      check_version(like.library);
      EXPECT_EQ(Found(like.matches),
                Nearest(like.library, CodeOf(answer.matches.front().picture), id, 5));
    } catch (const Error& error) {  // it was removed meanwhile
      EXPECT_EQ(error.code(), ErrorCode::kNotFound) << error.what();
    }
    const DuplicatesAnswer duplicates =
        library.Duplicates({.radius = 0, .similar = true}, OneThread());
    check_version(duplicates.library);
    size_t in_groups = 0;
    for (const DuplicateGroup& group : duplicates.groups) in_groups += group.pictures.size();
    std::map<uint64_t, size_t> times;
    for (const auto& [path, same] : ContentOf(duplicates.library)) ++times[same];
    for (const auto& [same, count] : times) in_groups -= count > 1 ? count : 0;
    EXPECT_EQ(in_groups, 0U);
  }
}

// One update that removes, changes and adds pictures, and the versions it goes through: missing
// pictures are removed first, then every batch of new or changed ones makes a
// version.
void UpdateAtRandom(PictureFolder& pictures, PictureLibrary& library, Content& content,
                    VersionModel& model, Random& random) {
  constexpr size_t kBatch = 4;
  Content next = content, version = content;
  for (int i = 0; i < 4 && !next.empty(); ++i) {
    const std::string path = std::next(next.begin(), random.Below(next.size()))->first;
    pictures.Remove(path);
    next.erase(path);
  }
  std::map<std::string, uint64_t> todo;
  for (int i = 0; i < 9; ++i) {
    const std::string path = fmt::format("{:02}.jpg", random.Below(40));
    const uint64_t code = random.Next() & 0xFF;
    if (next.contains(path) && next[path] == code) continue;
    pictures.Write(path, FakePicture(code));
    next[path] = todo[path] = code;
  }
  uint64_t generation = library.Refresh();
  if (std::erase_if(version, [&](const auto& one) { return !next.contains(one.first); }) > 0) {
    model.Add(++generation, version);
  }
  size_t in_batch = 0;
  for (const auto& [path, code] : todo) {
    version[path] = code;
    if (++in_batch % kBatch == 0) model.Add(++generation, version);
  }
  if (in_batch % kBatch != 0) model.Add(++generation, version);
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = kBatch;
  library.UpdateWith(update, OneThread());
  EXPECT_EQ(version, next);
  EXPECT_EQ(library.Refresh(), generation);
  content = next;
}

TEST(PictureLibrary, ManyThreadsAskWhileOneUpdates) {
  PictureFolder pictures;
  pictures.Write("first.jpg", FakePicture(3));
  pictures.Update();
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  VersionModel model;
  Content content = {{"first.jpg", 3}};
  model.Add(library->Refresh(), content);
  std::atomic<bool> done = false;
  {
    std::vector<std::jthread> readers;
    for (uint64_t i = 0; i < 4; ++i) {
      readers.emplace_back([&, i] { AskUntil(done, *library, model, i); });
    }
    Random random(77);
    for (int round = 0; round < 25; ++round) {
      UpdateAtRandom(pictures, *library, content, model, random);
    }
    done = true;
  }
  EXPECT_EQ(ContentOf(library->Snapshot()), content);
  EXPECT_GT(library->Refresh(), 50U);
}

// The coder changes under the readers: each answer is of the old codes or of the new ones.
TEST(PictureLibrary, ManyThreadsAskWhileTheCoderChanges) {
  PictureFolder pictures;
  Content plain;
  for (uint64_t i = 0; i < 30; ++i) {
    plain[fmt::format("{}.jpg", i)] = i;
    pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  }
  pictures.Update();
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  std::atomic<bool> done = false;
  const auto ask = [&] {
    while (!done) {
      const QueryAnswer answer = QueryPlain(*library, 1, {.k = 100});
      const uint64_t mark = std::stoull(answer.library.facts().coder.substr(5));
      Content expected = plain;
      for (auto& [path, code] : expected) code |= (mark - 1) << 56;
      ASSERT_EQ(ContentOf(answer.library), expected);
      ASSERT_EQ(answer.matches.size(), 30U);
      for (const QueryMatch& match : answer.matches) {
        ASSERT_EQ(CodeOf(match.picture), expected.at(match.picture.path));
      }
    }
  };
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 3; ++i) readers.emplace_back(ask);
    for (uint64_t coder = 2; coder < 12; ++coder) {
      PictureEncoding encoding = FakeEncoding(fmt::format("fake {}", coder));
      encoding.encode = [coder](auto bytes) {
        PictureCode code = FakeEncode(bytes);
        code.code[7] = static_cast<uint8_t>(coder - 1);
        return code;
      };
      EXPECT_EQ(library->UpdateWith(pictures.MakeUpdate(encoding), OneThread()).changed, 30U);
    }
    done = true;
  }
  EXPECT_EQ(library->Snapshot().facts().coder, "fake 11");
}

// The process that updates is started before the library is opened here: connections of SQLite do
// not survive a fork.
TEST(PictureLibrary, RefreshSeesWhatAnotherProcessUpdates) {
  if (!testing::kForkedChildrenHaveThreads) GTEST_SKIP() << "needs a forked child with threads";
  PictureFolder pictures;
  for (uint64_t i = 0; i < 20; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  pictures.Update();
  std::array<int, 2> to_child = {}, to_parent = {};
  ASSERT_EQ(pipe(to_child.data()), 0);
  ASSERT_EQ(pipe(to_parent.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char letter = 0;
    for (uint64_t round = 0; round < 3; ++round) {
      if (read(to_child[0], &letter, 1) != 1) _exit(1);
      pictures.Write(fmt::format("new{}.jpg", round), FakePicture(1000 + round));
      pictures.Remove(fmt::format("{}.jpg", round));
      try {
        LibraryWriter writer(Env::Posix(), pictures.library());
        if (UpdateLibrary(writer, pictures.MakeUpdate(), OneThread()).added != 1) _exit(2);
      } catch (const Error&) {
        _exit(3);
      }
      if (write(to_parent[1], "x", 1) != 1) _exit(4);
    }
    _exit(0);
  }
  // The child's ends: if it dies, reading ends too.
  close(to_child[0]);
  close(to_parent[1]);
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  uint64_t generation = library->Refresh();
  EXPECT_EQ(library->Refresh(), generation);
  const LibrarySnapshot before = library->Snapshot();
  for (uint64_t round = 0; round < 3; ++round) {
    char letter = 'g';
    ASSERT_EQ(write(to_child[1], &letter, 1), 1);
    ASSERT_EQ(read(to_parent[0], &letter, 1), 1);
    EXPECT_GT(library->Refresh(), generation);
    generation = library->Refresh();
    const QueryAnswer answer = QueryPlain(*library, 1000 + round, {.k = 1});
    EXPECT_EQ(answer.matches.at(0).picture.path, fmt::format("new{}.jpg", round));
    EXPECT_EQ(ReadContent(library->Snapshot()).codes.size(), 20U);
    EXPECT_FALSE(answer.library.catalogue().FindByPath(fmt::format("{}.jpg", round)));
  }
  EXPECT_EQ(before.index().size(), 20);
  EXPECT_TRUE(before.catalogue().FindByPath("0.jpg"));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace bitpool
