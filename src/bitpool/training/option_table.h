#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bitpool {

enum class OptionType {
  kWhole,   // a whole number
  kReal,    // a number
  kSwitch,  // true or false
};

// The values that an option may have.
struct OptionRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  // the least value itself is not one of them

  bool Contains(double value) const {
    return (above_least ? value > least : value >= least) && value <= most;
  }
};

constexpr OptionRange Positive() { return {.least = 0, .above_least = true}; }
constexpr OptionRange AtLeast(double least) { return {.least = least}; }
constexpr OptionRange Between(double least, double most) { return {.least = least, .most = most}; }

// An option as users meet it: the same name in JSON and in other languages, and on the command line
// with hyphens for underscores.
struct OptionDescription {
  std::string name;
  std::string help;
  OptionType type = OptionType::kReal;
  double default_value = 0;  // of a switch 0 or 1
  OptionRange range = {};
  bool of_pooling = false;  // about how local features become vectors, not about hashing
};

// Values of options by their names; those of switches are 0 and 1.
using OptionValues = std::map<std::string, double, std::less<>>;

// The fields of an option struct that users may set. The struct itself has the defaults.
template <class Options>
class OptionTable {
 public:
  // `access` is a pointer to a member, or a function of the struct that gives a reference to one.
  template <class Access>
  OptionTable& Add(std::string_view name, const Access& access, std::string_view help,
                   OptionRange range = {}) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Access, Options&>>;
    constexpr OptionType type = std::is_same_v<Value, bool> ? OptionType::kSwitch
                                : std::is_integral_v<Value> ? OptionType::kWhole
                                                            : OptionType::kReal;
    fields_.push_back(
        {.description = {.name = std::string(name),
                         .help = std::string(help),
                         .type = type,
                         .default_value = static_cast<double>(std::invoke(access, Defaults())),
                         .range = type == OptionType::kSwitch ? Between(0, 1) : range},
         .get =
             [access](const Options& options) {
               return static_cast<double>(std::invoke(access, options));
             },
         .set = [access](
                    Options& options,
                    double value) { std::invoke(access, options) = static_cast<Value>(value); }});
    return *this;
  }

  // All fields of a part of the struct, whose defaults are those of the whole.
  template <class Part, class Access>
  OptionTable& AddPart(const OptionTable<Part>& part, Access access) {
    for (const auto& field : part.fields()) {
      Field mine{
          .description = field.description,
          .get = [get = field.get,
                  access](const Options& options) { return get(std::invoke(access, options)); },
          .set = [set = field.set, access](
                     Options& options, double value) { set(std::invoke(access, options), value); }};
      mine.description.default_value = mine.get(Defaults());
      fields_.push_back(std::move(mine));
    }
    return *this;
  }

  // Marks all fields so far as those of pooling.
  OptionTable& OfPooling() {
    for (Field& field : fields_) field.description.of_pooling = true;
    return *this;
  }

  std::vector<OptionDescription> Describe() const {
    std::vector<OptionDescription> all;
    for (const Field& field : fields_) all.push_back(field.description);
    return all;
  }

  // Sets the fields that have a value; other names are not looked at.
  void Set(const OptionValues& values, Options& options) const {
    for (const Field& field : fields_) {
      const auto found = values.find(field.description.name);
      if (found != values.end()) field.set(options, found->second);
    }
  }

  OptionValues Get(const Options& options) const {
    OptionValues values;
    for (const Field& field : fields_) values[field.description.name] = field.get(options);
    return values;
  }

  struct Field {
    OptionDescription description;
    std::function<double(const Options&)> get;
    std::function<void(Options&, double)> set;
  };
  const std::vector<Field>& fields() const { return fields_; }

 private:
  static const Options& Defaults() {
    static const Options defaults;
    return defaults;
  }

  std::vector<Field> fields_;
};

}  // namespace bitpool
