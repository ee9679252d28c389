#include "bitpool/dataset/convert.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "subcommands.h"

namespace bitpool::app {

void AddConvert(CLI::App& app, Session& session) {
  struct Options {
    std::string in, out, dtype, counts;
    ConvertOptions convert;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("convert", "Convert between npy, vecs and Bitpool's own files");
  command
      ->add_option(
          "IN", options->in,
          "File to read (.npy .fvecs .bvecs .ivecs .siftgeo .bpv .bpf …) or a folder of them")
      ->required();
  command->add_option("OUT", options->out, "File to write (.npy .fvecs .bvecs .ivecs .bpv .bpf)")
      ->required();
  command->add_option("--dtype", options->dtype,
                      "Element type of the output: f2 f4 f8 u1 i4 u4 i8 u8");
  command->add_option("--counts", options->counts,
                      "Descriptors per image (.npy): read when OUT is .bpf, written when IN is");
  command->add_option("--images-per-picture", options->convert.images_per_picture,
                      "When OUT is .bpf: every picture is followed by its views, so many images "
                      "together");
  AddForce(command, options->convert.if_exists);
  command->footer(
      "Examples:\n  bitpool convert sift_base.fvecs base.npy\n  bitpool convert maps.npy maps.bpf "
      "--dtype f2\n"
      "  bitpool convert siftgeo/ holidays.bpf");
  command->callback([options, &session] {
    session.action = [options, &session] {
      if (!options->dtype.empty()) {
        options->convert.dtype = DTypeFromName(options->dtype);
        if (!options->convert.dtype) {
          throw Error(
              ErrorCode::kInvalidArgument,
              fmt::format("--dtype {}: expected f2, f4, f8, u1, i4, u4, i8 or u8", options->dtype));
        }
      }
      if (!options->counts.empty()) options->convert.counts = options->counts;
      const ConvertReport report =
          Convert(Env::Posix(), options->in, options->out, options->convert, session.MakeContext());
      for (const std::string& failure : report.failures) Session::Complain(failure);
      if (session.json()) {
        Session::Print(nlohmann::json{
            {"file", options->out}, {"written", report.written}, {"failures", report.failures}});
      } else {
        session.Say(fmt::format(
            "{}: {} written{}", options->out, report.written,
            report.failures.empty() ? "" : fmt::format(", {} failed", report.failures.size())));
      }
      return report.failures.empty() ? kExitFine : kExitSomeFailed;
    };
  });
}

}  // namespace bitpool::app
