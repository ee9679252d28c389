#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "bitpool/catalog/postgres_address.h"
#include "bitpool/http/http_server.h"
#include "bitpool/library/library_folder.h"
#include "bitpool/serve/named_path.h"
#include "bitpool/serve/server_access.h"
#include "bitpool/serve/service.h"
#include "experiment.h"
#include "least_rights.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

struct ServeCommand {
  std::vector<std::string> libraries, indexes, models, tls;
  std::string key_file, new_key, key_name;
  ServiceOptions service;
  HttpServerOptions server{.port = 8080};
};

NamedPath ParseNamed(const std::string& text) {
  NamedPath named = ParseNamedPath(Env::Posix(), text);
  if (!named.name.empty()) return named;
  throw Error(ErrorCode::kInvalidArgument, text, "expected a name before the =");
}

int MakeKey(const ServeCommand& command, const Session& session) {
  if (command.key_file.empty())
    throw Error(ErrorCode::kInvalidArgument, "--new-key: expected --key-file, where its hash goes");
  const Access access = command.new_key == "write" ? Access::kWrite : Access::kRead;
  Session::Print(AddKey(Env::Posix(), command.key_file, access, command.key_name) + "\n");
  session.Say(command.key_file + ": has its hash; the key itself is shown only now");
  return kExitFine;
}

void PrepareAccess(ServeCommand& command, const Session& session) {
  if (command.tls.size() == 2)
    command.server.tls = TlsFiles{.certificate = command.tls[0], .key = command.tls[1]};
  command.service.secure = command.server.tls.has_value();
  const AccessSettings settings = {
      .address = command.server.address, .key_file = command.key_file, .tls = command.server.tls};
  command.service.keys = LoadKeys(Env::Posix(), settings);
  if (SendsUnencrypted(settings))
    session.Say(
        "keys and pictures travel unencrypted: add --tls CERT KEY, or stay on 127.0.0.1 behind a "
        "proxy that speaks TLS");
}

void AddContents(const ServeCommand& command, Service& service, const Session& session) {
  for (const std::string& text : command.libraries) {
    const NamedPath named = ParseNamed(text);
    service.AddLibrary(named.name, named.path);
    const std::string location = named.path.string();
    session.Say(fmt::format("library {}: {}", named.name,
                            IsPostgresAddress(location) ? ShownAddress(location) : location));
  }
  for (const std::string& text : command.indexes) {
    const NamedPath named = ParseNamed(text);
    service.AddIndex(named.name, named.path);
  }
  for (const std::string& text : command.models) {
    const NamedPath named = ParseNamed(text);
    service.AddModel(named.name, named.path);
  }
}

// A server that may move pictures moves them wherever its libraries have them, even in folders that
// another process adds: it keeps the right to write.
void WriteOnlyToContents(const ServeCommand& command) {
  if (command.service.allow_changes) return;
  Env& env = Env::Posix();
  std::vector<std::filesystem::path> folders;
  for (const std::string& text : command.libraries) {
    std::filesystem::path path = ParseNamed(text).path;
    const bool is_library = env.Exists(LibraryFolder(path).catalogue());
    if (!is_library && env.IsFolder(path)) {
      path /= ".bitpool";
      env.MakeFolders(path);  // what is not there yet could not be written in afterwards
    }
    folders.push_back(path);
  }
  for (const std::string& text : command.indexes) {
    const std::filesystem::path path = ParseNamed(text).path;
    folders.push_back(path.has_parent_path() ? path.parent_path() : ".");
  }
  WriteOnlyTo(std::move(folders));
}

int Serve(ServeCommand command, const Session& session) {
  if (!command.new_key.empty()) return MakeKey(command, session);
  if (command.libraries.empty() && command.indexes.empty() && command.models.empty())
    throw Error(ErrorCode::kInvalidArgument, "expected --library, --index or --model");
  PrepareAccess(command, session);
  const RunContext context = session.MakeContext();
  command.service.body_bytes = command.server.limits.body_bytes;
  command.server.limits.bytes_in_flight =
      std::max(command.server.limits.bytes_in_flight, command.server.limits.body_bytes);
  command.server.io_threads = std::max(1, context.threads() / 2);
  command.server.quick_threads = context.threads();
  command.server.slow_threads = context.threads();
  command.service.cache = DataFolder("") / "copies";
  // A shared library is reached over the network, and keeps its files wherever it was told to.
  const bool shared = std::ranges::any_of(command.libraries, [](const std::string& text) {
    return IsPostgresAddress(ParseNamed(text).path.string());
  });
  // Now, because a thread that is there already would keep its rights, and opening starts some.
  if (!shared) WriteOnlyToContents(command);
  Service service(Env::Posix(), command.service);
  service.set_log([](const std::string& line) { Session::Complain(line); });
  AddContents(command, service, session);
  HttpServer server(command.server, service);
  if (!shared) ForgoOtherRights(Connections::kAccepting);
  service.Start([&server] { return server.status(); });
  const bool six = command.server.address.find(':') != std::string::npos;
  Session::Print(fmt::format("{}://{}:{}/\n", command.server.tls ? "https" : "http",
                             six ? "[" + command.server.address + "]" : command.server.address,
                             server.port()));
  std::fflush(stdout);
  while (!context.stopped()) std::this_thread::sleep_for(kBetweenLooks);
  service.Stop([&server] { server.Stop(); });
  return kExitFine;
}

void AddLimits(CLI::App* sub, ServeCommand& command) {
  HttpLimits& limits = command.server.limits;
  const auto add = [sub](const char* name, auto& value, const char* help) {
    sub->add_option(name, value, help)->capture_default_str()->group("Limits");
  };
  add("--max-body", limits.body_bytes, "Bytes of a request's body");
  add("--max-in-flight", limits.bytes_in_flight, "Bytes of all bodies at one time");
  add("--max-header", limits.header_bytes, "Bytes of a request's head");
  add("--max-pixels", command.service.pixels, "Pixels of a picture that is sent");
  add("--max-connections", limits.connections, "Connections at one time");
  add("--queue", limits.queue, "Requests that may wait; the next ones get 503");
  add("--idle-seconds", limits.idle_seconds, "Between two requests of a connection");
  add("--header-seconds", limits.header_seconds, "For the head of a request");
  add("--body-seconds", limits.body_seconds, "For the body of a request");
  add("--write-seconds", limits.write_seconds, "For a quarter of a megabyte of an answer");
  add("--grace-seconds", limits.grace_seconds, "For what runs when the server is stopped");
}

}  // namespace

void AddServe(CLI::App& app, Session& session) {
  const auto command = std::make_shared<ServeCommand>();
  CLI::App* sub = app.add_subcommand("serve", "Serve libraries and indexes: a page, and HTTP");
  sub->add_option("--library", command->libraries,
                  "Folder of a library or of pictures, or postgresql://... of a shared library, as "
                  "often as wanted; NAME=FOLDER names it");
  sub->add_option("--index", command->indexes, "Index of codes: NAME=FILE.bpi");
  sub->add_option("--model", command->models, "Model that encodes vectors: NAME=FILE.bpm");
  sub->add_option("--port", command->server.port, "Port; 0 takes a free one")
      ->capture_default_str();
  sub->add_option("--address", command->server.address,
                  "Address to listen at; one that others reach needs --key-file")
      ->capture_default_str();
  sub->add_option("--host", command->service.hosts,
                  "Name under which this server is known, besides localhost and addresses");
  sub->add_flag("--allow-changes", command->service.allow_changes,
                "Move duplicates to the library's trash folder; without it a script is written");
  sub->add_option("--key-file", command->key_file, "File with the hashes of API keys");
  sub->add_option("--new-key", command->new_key,
                  "Make a key that may read, or write too, add it to the key file and end")
      ->check(CLI::IsMember({"read", "write"}));
  sub->add_option("--key-name", command->key_name, "Whose key that is, for the key file");
  sub->add_option("--tls", command->tls, "Files of the certificate and its key, PEM")->expected(2);
  AddLimits(sub, *command);
  sub->footer(
      "The page and /openapi.json say what can be done. Ctrl-C finishes what runs and ends.\n\n"
      "Example:\n  bitpool serve --library ~/Pictures\n"
      "  bitpool serve --key-file keys --new-key write --key-name ada\n"
      "  bitpool serve --library ~/Pictures --key-file keys --address 0.0.0.0 --tls cert.pem "
      "key.pem");
  sub->callback([command, &session] {
    session.action = [command, &session] { return Serve(*command, session); };
  });
}

}  // namespace bitpool::app
