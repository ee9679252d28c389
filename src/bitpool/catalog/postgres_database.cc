#include "bitpool/catalog/postgres_database.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "bitpool/catalog/postgres_address.h"

namespace bitpool {
namespace {

constexpr Oid kInt8 = 20, kBytea = 17, kText = 25, kInt8Array = 1016, kByteaArray = 1001;
constexpr int kBinary = 1;
constexpr size_t kCopyPiece = size_t{256} << 10;

// How a connection behaves when the other end vanishes without a word: after half a minute it is
// noticed here, and on the server, where a dead process may hold locks.
constexpr std::array<std::array<const char*, 2>, 8> kConnectionDefaults = {{
    {"connect_timeout", "10"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "4"},
    {"tcp_user_timeout", "30000"},
    {"fallback_application_name", "bitpool"},
    {"client_encoding", "UTF8"},
    {"dbname", nullptr},  // the address, which overrides the others
}};
constexpr const char* kSession =
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4; "
    "SET client_min_messages = warning; SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'";

uint64_t ReadBigEndian(const char* bytes, int count) {
  uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

std::string BigEndian(uint64_t value, int count) {
  std::string bytes(static_cast<size_t>(count), '\0');
  for (int i = 0; i < count; ++i) {
    bytes[static_cast<size_t>(count - 1 - i)] = static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return bytes;
}

// The head of an array of one dimension.
void PutArrayHead(PostgresBytes& bytes, Oid element, size_t count) {
  bytes.PutInt32(count == 0 ? 0 : 1);
  bytes.PutInt32(0);  // no NULLs
  bytes.PutInt32(static_cast<int32_t>(element));
  if (count == 0) return;
  bytes.PutInt32(static_cast<int32_t>(count));
  bytes.PutInt32(1);  // the first is number 1
}

// What libpq has to say, without the newline; of several lines, the first.
std::string FirstLine(const char* text) {
  const std::string_view all = text == nullptr ? "" : text;
  const std::string_view line = all.substr(0, all.find('\n'));
  return line.empty() ? "no reason given" : std::string(line);
}

ErrorCode CodeOf(std::string_view state) {
  if (state.starts_with("53")) return ErrorCode::kResources;
  if (state == "42501" || state.starts_with("28")) return ErrorCode::kInvalidArgument;
  if (state.starts_with("XX") || state.starts_with("22")) return ErrorCode::kCorrupt;
  if (state.starts_with("42")) return ErrorCode::kCorrupt;  // tables are not what they should be
  return ErrorCode::kIo;
}

// Whether the server went away, or is about to.
bool IsAway(std::string_view state) {
  return state.starts_with("57P0") || state.starts_with("08") || state == "25P03";
}

}  // namespace

std::vector<uint8_t> ReverseBitsOfBytes(std::span<const uint8_t> code) {
  static const std::array<uint8_t, 256> kReversed = [] {
    std::array<uint8_t, 256> table{};
    for (unsigned value = 0; value < 256; ++value) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1U) != 0) table[value] |= static_cast<uint8_t>(0x80U >> bit);
      }
    }
    return table;
  }();
  std::vector<uint8_t> reversed(code.begin(), code.end());
  for (uint8_t& byte : reversed) byte = kReversed[byte];
  return reversed;
}

void PostgresBytes::PutInt16(int16_t value) {
  bytes_ += BigEndian(static_cast<uint64_t>(value), 2);
}
void PostgresBytes::PutInt32(int32_t value) {
  bytes_ += BigEndian(static_cast<uint64_t>(value), 4);
}
void PostgresBytes::PutInt64(int64_t value) {
  bytes_ += BigEndian(static_cast<uint64_t>(value), 8);
}

void PostgresBytes::PutBits(std::span<const uint8_t> code, int bits) {
  PutInt32(bits);
  const std::vector<uint8_t> reversed =
      ReverseBitsOfBytes(code.first((static_cast<size_t>(bits) + 7) / 8));
  bytes_.append(reversed.begin(), reversed.end());
}

PostgresParameters& PostgresParameters::AddValue(Oid type, std::string value) {
  types_.push_back(type);
  values_.push_back(std::move(value));
  return *this;
}

PostgresParameters& PostgresParameters::Add(int64_t value) {
  return AddValue(kInt8, BigEndian(static_cast<uint64_t>(value), 8));
}
PostgresParameters& PostgresParameters::AddBytes(std::string_view bytes) {
  return AddValue(kBytea, std::string(bytes));
}
PostgresParameters& PostgresParameters::AddText(std::string_view text) {
  return AddValue(kText, std::string(text));
}

PostgresParameters& PostgresParameters::AddNumbers(std::span<const int64_t> values) {
  PostgresBytes bytes;
  PutArrayHead(bytes, kInt8, values.size());
  for (const int64_t value : values) {
    bytes.PutInt32(8);
    bytes.PutInt64(value);
  }
  return AddValue(kInt8Array, bytes.str());
}

PostgresParameters& PostgresParameters::AddByteStrings(std::span<const std::string> each) {
  PostgresBytes bytes;
  PutArrayHead(bytes, kBytea, each.size());
  for (const std::string& one : each) {
    bytes.PutInt32(static_cast<int32_t>(one.size()));
    bytes.PutRaw(one);
  }
  return AddValue(kByteaArray, bytes.str());
}

std::vector<const char*> PostgresParameters::pointers() const {
  std::vector<const char*> pointers;
  for (const std::string& value : values_) pointers.push_back(value.data());
  return pointers;
}

std::vector<int> PostgresParameters::lengths() const {
  std::vector<int> lengths;
  for (const std::string& value : values_) lengths.push_back(static_cast<int>(value.size()));
  return lengths;
}

int64_t PostgresResult::Number(int row, int column) const {
  const int length = PQgetlength(result_.get(), row, column);
  const uint64_t value = ReadBigEndian(PQgetvalue(result_.get(), row, column), length);
  return length == 4 ? static_cast<int32_t>(value) : std::bit_cast<int64_t>(value);
}

std::string_view PostgresResult::Bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<size_t>(PQgetlength(result_.get(), row, column))};
}

std::vector<uint8_t> PostgresResult::Code(int row, int column) const {
  if (IsNull(row, column)) return {};
  const std::string_view bits = Bytes(row, column).substr(4);  // the number of bits comes first
  return ReverseBitsOfBytes({reinterpret_cast<const uint8_t*>(bits.data()), bits.size()});
}

uint64_t PostgresResult::changed() const {
  const std::string_view text = PQcmdTuples(result_.get());
  uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

PostgresDatabase::PostgresDatabase(const std::string& address) : name_(ShownAddress(address)) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : kConnectionDefaults) {
    keys.push_back(key);
    values.push_back(value == nullptr ? address.c_str() : value);
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  connection_.reset(PQconnectdbParams(keys.data(), values.data(), 1));
  if (!connection_) throw Error(ErrorCode::kResources, name_, "out of memory");
  if (is_lost()) throw CatalogueAway(name_, FirstLine(PQerrorMessage(connection_.get())));
  // Otherwise the server's warnings would go to standard error.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  Execute(kSession);
}

void PostgresDatabase::Fail(const PGresult* result) {
  const char* text = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = text == nullptr ? "" : text;
  const std::string reason = text == nullptr
                                 ? FirstLine(PQerrorMessage(connection_.get()))
                                 : FirstLine(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (is_lost() || IsAway(state)) throw CatalogueAway(name_, reason);
  if (state == "55P03") throw CatalogueBusy(name_);
  throw Error(CodeOf(state), name_, reason);
}

PostgresResult PostgresDatabase::Check(PGresult* result) {
  PostgresResult owned(result);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) Fail(result);
  return owned;
}

void PostgresDatabase::Execute(const std::string& sql) {
  Check(PQexec(connection_.get(), sql.c_str()));
}

PostgresResult PostgresDatabase::Query(const std::string& sql,
                                       const PostgresParameters& parameters) {
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    const std::string name = fmt::format("s{}", prepared_.size());
    Check(PQprepare(connection_.get(), name.c_str(), sql.c_str(), parameters.count(),
                    parameters.types()));
    known = prepared_.emplace(sql, name).first;
  }
  const std::vector<int> lengths = parameters.lengths();
  const std::vector<int> formats(lengths.size(), kBinary);
  return Check(PQexecPrepared(connection_.get(), known->second.c_str(), parameters.count(),
                              parameters.pointers().data(), lengths.data(), formats.data(),
                              kBinary));
}

PostgresResult PostgresDatabase::QueryOnce(const std::string& sql,
                                           const PostgresParameters& parameters) {
  const std::vector<int> lengths = parameters.lengths();
  const std::vector<int> formats(lengths.size(), kBinary);
  return Check(PQexecParams(connection_.get(), sql.c_str(), parameters.count(), parameters.types(),
                            parameters.pointers().data(), lengths.data(), formats.data(), kBinary));
}

int64_t PostgresDatabase::ReadNumber(const std::string& sql) {
  const PostgresResult result = QueryOnce(sql);
  if (result.rows() > 0) return result.Number(0, 0);
  throw Error(ErrorCode::kCorrupt, name_, "the catalogue is damaged (a row is missing)");
}

bool PostgresDatabase::in_transaction() const {
  const PGTransactionStatusType status = PQtransactionStatus(connection_.get());
  return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

bool PostgresDatabase::WaitForNotification(int wait_ms) {
  const auto take = [&] {
    if (PQconsumeInput(connection_.get()) == 0) Fail(nullptr);
    bool any = false;
    while (PGnotify* notification = PQnotifies(connection_.get())) {
      PQfreemem(notification);
      any = true;
    }
    return any;
  };
  if (take()) return true;
  pollfd wanted = {.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, wait_ms) > 0 && take();
}

PostgresCopy::PostgresCopy(PostgresDatabase& database, const std::string& what)
    : database_(database) {
  const PostgresResult result(PQexec(
      database.connection_.get(), fmt::format("COPY {} FROM STDIN (FORMAT binary)", what).c_str()));
  if (PQresultStatus(result.get()) != PGRES_COPY_IN) {
    open_ = false;
    database.Fail(result.get());
  }
  buffer_.PutRaw(std::string_view("PGCOPY\n\377\r\n\0", 11));
  buffer_.PutInt32(0);  // no flags
  buffer_.PutInt32(0);  // no header extension
}

PostgresCopy::~PostgresCopy() {
  if (!open_) return;
  PQputCopyEnd(database_.connection_.get(), "given up");
  while (PGresult* result = PQgetResult(database_.connection_.get())) PQclear(result);
}

void PostgresCopy::StartRow(int columns) {
  if (buffer_.str().size() >= kCopyPiece) Send();
  buffer_.PutInt16(static_cast<int16_t>(columns));
}

void PostgresCopy::Add(int64_t value) {
  buffer_.PutInt32(8);
  buffer_.PutInt64(value);
}

void PostgresCopy::AddBytes(std::string_view bytes) {
  buffer_.PutInt32(static_cast<int32_t>(bytes.size()));
  buffer_.PutRaw(bytes);
}

void PostgresCopy::AddBits(std::span<const uint8_t> code, int bits) {
  buffer_.PutInt32(4 + static_cast<int32_t>((bits + 7) / 8));
  buffer_.PutBits(code, bits);
}

void PostgresCopy::AddCode(std::span<const uint8_t> code) {
  if (code.empty()) return AddNull();
  AddBits(code, static_cast<int>(8 * code.size()));
}

void PostgresCopy::AddFlag(bool flag) {
  buffer_.PutInt32(1);
  buffer_.PutRaw(flag ? std::string_view("\1", 1) : std::string_view("\0", 1));
}

void PostgresCopy::AddNull() { buffer_.PutInt32(-1); }

void PostgresCopy::Send() {
  const std::string bytes = std::exchange(buffer_, {}).str();
  if (PQputCopyData(database_.connection_.get(), bytes.data(), static_cast<int>(bytes.size())) != 1)
    database_.Fail(nullptr);
}

void PostgresCopy::Finish() {
  buffer_.PutInt16(-1);
  Send();
  open_ = false;
  if (PQputCopyEnd(database_.connection_.get(), nullptr) != 1) database_.Fail(nullptr);
  const PostgresResult result(PQgetResult(database_.connection_.get()));
  while (PGresult* rest = PQgetResult(database_.connection_.get())) PQclear(rest);
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) database_.Fail(result.get());
}

}  // namespace bitpool
