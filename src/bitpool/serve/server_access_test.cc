#include "bitpool/serve/server_access.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using std::filesystem::perms;
using testing::ExpectError;

class ServerAccessTest : public ::testing::Test {
 protected:
  Env& env = Env::Posix();
  testing::TempFolder folder;
  const std::string file = (folder / "keys").string();

  void Write(const std::string& text) { std::ofstream(file, std::ios::binary) << text; }
  std::string Read() { return testing::ToString(env.Read(file, 1 << 20)); }
  ApiKeys Load(const std::string& address) {
    return LoadKeys(env, {.address = address, .key_file = file});
  }
};

TEST_F(ServerAccessTest, OnlyThisMachineIsServedWithoutKeys) {
  for (const char* address : {"127.0.0.1", "127.1.2.3", "::1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
    EXPECT_TRUE(LoadKeys(env, {.address = address}).empty()) << address;
  }
  EXPECT_TRUE(LoadKeys(env, {}).empty());  // as it is when nothing is said
  for (const char* address : {"0.0.0.0", "::", "192.168.1.2", "10.127.0.1", "128.0.0.1", "1270.0.1",
                              "::ffff:127.0.0.1", "::11", "localhost", ""}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
    ExpectError(ErrorCode::kInvalidArgument, {address, "keys are needed", "--new-key"},
                [&] { LoadKeys(env, {.address = address}); });
  }
}

TEST_F(ServerAccessTest, WithKeysAnyAddressIsServed) {
  const std::string reader = AddKey(env, file, Access::kRead, "a reader");
  for (const char* address : {"127.0.0.1", "0.0.0.0", "::"}) {
    const ApiKeys keys = Load(address);
    EXPECT_FALSE(keys.empty());
    EXPECT_EQ(keys.AccessOf(reader), Access::kRead);
    EXPECT_EQ(keys.AccessOf("another"), Access::kNone);
  }
}

TEST_F(ServerAccessTest, KeyFilesThatProtectNothingAreRefused) {
  for (const char* address : {"127.0.0.1", "0.0.0.0"}) {  // whoever asks for keys gets them
    std::filesystem::remove(file);
    ExpectError(ErrorCode::kNotFound, {file}, [&] { Load(address); });
    Write("# no key yet\n\n");
    ExpectError(ErrorCode::kInvalidArgument, {file, "no key in it"}, [&] { Load(address); });
    Write("# fine\nadmin 00\n");
    ExpectError(ErrorCode::kInvalidArgument, {file, "line 2"}, [&] { Load(address); });
    std::filesystem::remove(file);
    AddKey(env, file, Access::kWrite, "");
    std::filesystem::permissions(file, perms::others_write, std::filesystem::perm_options::add);
    ExpectError(ErrorCode::kInvalidArgument, {file, "can change it"}, [&] { Load(address); });
    std::filesystem::permissions(file, perms::others_write, std::filesystem::perm_options::remove);
    std::filesystem::permissions(file, perms::others_read, std::filesystem::perm_options::add);
    EXPECT_FALSE(Load(address).empty());  // hashes are no secret
  }
}

TEST_F(ServerAccessTest, TheKeyOfTlsIsASecret) {
  const AccessSettings settings = {.tls = TlsFiles{.certificate = "none", .key = file}};
  Write("key");
  std::filesystem::permissions(file, perms::owner_read | perms::others_read);
  ExpectError(ErrorCode::kInvalidArgument, {file, "can read it"}, [&] { LoadKeys(env, settings); });
  std::filesystem::permissions(file, perms::owner_read);
  EXPECT_TRUE(LoadKeys(env, settings).empty());
}

TEST_F(ServerAccessTest, SaysWhatTravelsUnencrypted) {
  const TlsFiles tls = {.certificate = "certificate", .key = "key"};
  EXPECT_FALSE(SendsUnencrypted({}));
  EXPECT_FALSE(SendsUnencrypted({.address = "::1"}));
  EXPECT_TRUE(SendsUnencrypted({.address = "0.0.0.0"}));
  EXPECT_FALSE(SendsUnencrypted({.address = "0.0.0.0", .tls = tls}));
}

TEST_F(ServerAccessTest, KeysAreAddedAndTheFileIsForItsOwner) {
  const std::string reader = AddKey(env, file, Access::kRead, "ada");
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
  std::filesystem::permissions(file, perms::others_read, std::filesystem::perm_options::add);
  std::string text = Read();
  text.pop_back();  // as some editors leave it
  Write("# our keys\n" + text);
  const std::string writer = AddKey(env, file, Access::kWrite, "bob");
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_TRUE(Read().starts_with("# our keys\n" + text + "\nwrite ")) << Read();
  EXPECT_EQ(Read().find(writer), std::string::npos);
  const ApiKeys keys = Load("0.0.0.0");
  EXPECT_EQ(keys.AccessOf(reader), Access::kRead);
  EXPECT_EQ(keys.AccessOf(writer), Access::kWrite);
}

// Of two that read the same file and wrote it anew, one would lose its key.
TEST_F(ServerAccessTest, OneKeyIsAddedAtATime) {
  AddKey(env, file, Access::kRead, "ada");
  const std::string before = Read();
  {
    const auto lock = env.TryLock(file + ".lock");
    ASSERT_TRUE(lock);
    ExpectError(ErrorCode::kResources, {file, "another process"},
                [&] { AddKey(env, file, Access::kWrite, "bob"); });
    EXPECT_EQ(Read(), before);
  }
  AddKey(env, file, Access::kWrite, "bob");
  EXPECT_TRUE(Read().starts_with(before));
}

TEST_F(ServerAccessTest, AFileOfSomethingElseStaysAsItIs) {
  Write("something else\n");
  ExpectError(ErrorCode::kInvalidArgument, {file, "line 1"},
              [&] { AddKey(env, file, Access::kWrite, ""); });
  EXPECT_EQ(Read(), "something else\n");
}

}  // namespace
}  // namespace bitpool
