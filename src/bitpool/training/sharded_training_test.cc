#include "bitpool/training/sharded_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/rba.h"
#include "bitpool/hash/sah.h"
#include "bitpool/hash/sash.h"
#include "bitpool/hash/testing.h"
#include "bitpool/hash/view_shards.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/kmeans.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/model_file.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// Where samples are cut: 1, 2, 3 and 7 shards, even and uneven ones, an empty one at the beginning,
// in the middle and at the end.
std::vector<std::vector<Index>> Cuts(Index total) {
  return {{total}, {2048, total}, {4096, 10240, total}, {0, 2048, 2048, 8192, 10240, total, total}};
}

std::vector<ShardPlace> PlacesOf(const std::vector<Index>& ends, Index total) {
  std::vector<ShardPlace> places;
  Index first = 0;
  for (const Index end : ends) {
    places.push_back({.first = first, .count = end - first, .total = total});
    first = end;
  }
  return places;
}

using MakeShard = std::function<std::unique_ptr<Shard>(size_t number, const ShardPlace& place)>;

// Every part as if in a process of its own, the last shard first, at different numbers of threads.
FileShards::ComputeParts Elsewhere(const TempFolder& folder, const std::vector<ShardPlace>& places,
                                   const MakeShard& make) {
  return [&folder, places, make](int step, const std::vector<int>& missing) {
    for (auto number = missing.rbegin(); number != missing.rend(); ++number) {
      const auto at = static_cast<size_t>(*number);
      const std::unique_ptr<Shard> shard = make(at, places[at]);
      ShardWorker(Env::Posix(), folder.path(), *number, *shard)
          .Compute(step, RunContext({.threads = 1 + *number % 2}));
    }
  };
}

class VectorShard : public Shard {
 public:
  VectorShard(const ShardPlace& place, const MatrixF& all)
      : Shard(place), columns_(all.middleCols(place.first, place.count)) {
    Give(kInputs, columns_);
  }

 private:
  MatrixColumns columns_;
};

class OwningViewShard : private MatrixColumns, public ViewShard {
 public:
  OwningViewShard(const ShardPlace& place, const MatrixF& all)
      : MatrixColumns(all.middleCols(place.first, place.count)),
        ViewShard(place, static_cast<const MatrixColumns&>(*this)) {}
};

MakeShard VectorShards(const MatrixF& all) {
  return [&all](size_t /*number*/, const ShardPlace& place) {
    return std::make_unique<VectorShard>(place, all);
  };
}

std::string FileContent(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The model as it is stored, with what is remembered of every iteration but its time.
std::string BytesOf(const Trained<HashModel>& trained) {
  const TempFolder folder;
  nlohmann::json iterations = nlohmann::json::array();
  for (const TrainingIteration& iteration : trained.summary.iterations) {
    iterations.push_back({iteration.objective, iteration.reconstruction, iteration.quantisation,
                          iteration.aggregation, iteration.flipped});
  }
  SaveModel(Env::Posix(), folder / "m",
            {.model = trained.model,
             .training = {{"iterations", iterations}, {"samples", trained.summary.samples}}},
            IfExists::kFail);
  return FileContent(folder / "m");
}

std::string BytesOf(const Trained<KMeans>& trained) {
  const MatrixF& centroids = trained.model.centroids();
  std::string bytes(reinterpret_cast<const char*>(centroids.data()),
                    sizeof(float) * static_cast<size_t>(centroids.size()));
  for (const KMeansIteration& iteration : trained.summary.iterations) {
    bytes += testing::Pack(iteration.objective, iteration.moved, iteration.empty);
  }
  return bytes;
}

// Trains in one process and through the files of every cut, and expects the same bytes.
template <class TrainWhole, class TrainShards>
void ExpectTheSameFromShards(
    Index total, const TrainWhole& train_whole,
    const std::function<MakeShard(const std::vector<ShardPlace>&)>& shards_of,
    const TrainShards& train_shards, const std::vector<std::vector<Index>>& cuts) {
  const std::string whole = BytesOf(train_whole(RunContext({.threads = 1})));
  EXPECT_EQ(BytesOf(train_whole(RunContext({.threads = 3}))), whole);
  for (const std::vector<Index>& ends : cuts) {
    const TempFolder folder;
    const std::vector<ShardPlace> places = PlacesOf(ends, total);
    const MakeShard make = shards_of(places);
    FileShards shards(Env::Posix(), folder.path(), "job", places, Elsewhere(folder, places, make));
    EXPECT_TRUE(BytesOf(train_shards(shards, RunContext({.threads = 2}))) == whole)
        << ends.size() << " shards";
  }
}

template <class TrainWhole, class TrainShards>
void ExpectTheSameFromVectorShards(const MatrixF& x, const TrainWhole& train_whole,
                                   const TrainShards& train_shards,
                                   const std::vector<std::vector<Index>>& cuts) {
  ExpectTheSameFromShards(
      x.cols(), train_whole, [&](const std::vector<ShardPlace>&) { return VectorShards(x); },
      train_shards, cuts);
}

constexpr Index kSamples = 13001;

// Several blocks of sums, cut inside them, at their ends, and across them.
constexpr Index kManySamples = 2 * kSumBlock + 5000;
const std::vector<std::vector<Index>> kCutsOfBlocks = {{kSumBlock, kManySamples},
                                                       {2048, 2 * kSumBlock + 2048, kManySamples}};

void ExpectItqTheSame(const ItqOptions& options, const MatrixF& x,
                      const std::vector<std::vector<Index>>& cuts) {
  ExpectTheSameFromVectorShards(
      x, [&](const RunContext& context) { return TrainItq(options, MatrixColumns(x), context); },
      [&](Shards& shards, const RunContext& context) { return TrainItq(options, shards, context); },
      cuts);
}

TEST(ShardedTraining, ItqHasTheBytesOfOneProcess) {
  ItqOptions options;
  options.bits = 6;
  options.iterations = 3;
  ExpectItqTheSame(options, ClusteredSamples(9, kSamples, 1), Cuts(kSamples));
  options.bits = 11;  // more than dimensions
  options.iterations = 2;
  ExpectItqTheSame(options, ClusteredSamples(5, kManySamples, 2), kCutsOfBlocks);
}

TEST(ShardedTraining, ItqOfASampleHasTheBytesOfOneProcess) {
  ItqOptions options;
  options.bits = 6;
  options.iterations = 3;
  for (const double share : {0.7, 0.0009}) {
    options.memory = static_cast<size_t>(share * 4 * 6 * kSamples);
    ExpectItqTheSame(options, ClusteredSamples(9, kSamples, 3), Cuts(kSamples));
  }
}

TEST(ShardedTraining, RbaHasTheBytesOfOneProcess) {
  RbaOptions options;
  options.bits = 6;
  options.iterations = 3;
  const auto expect = [&](const MatrixF& x, const std::vector<std::vector<Index>>& cuts) {
    ExpectTheSameFromVectorShards(
        x, [&](const RunContext& context) { return TrainRba(options, MatrixColumns(x), context); },
        [&](Shards& shards, const RunContext& context) {
          return TrainRba(options, shards, context);
        },
        cuts);
  };
  expect(ClusteredSamples(9, kSamples, 4), Cuts(kSamples));
  expect(ClusteredSamples(6, kManySamples, 5), kCutsOfBlocks);
}

TEST(ShardedTraining, KMeansHasTheBytesOfOneProcess) {
  KMeansOptions options{.clusters = 12, .iterations = 4};
  const auto expect = [&](const MatrixF& x, const std::vector<std::vector<Index>>& cuts) {
    ExpectTheSameFromVectorShards(
        x,
        [&](const RunContext& context) { return TrainKMeans(options, MatrixColumns(x), context); },
        [&](Shards& shards, const RunContext& context) {
          return TrainKMeans(options, shards, context);
        },
        cuts);
  };
  expect(ClusteredSamples(5, kSamples, 6), Cuts(kSamples));
  expect(ClusteredSamples(2, kManySamples, 7), kCutsOfBlocks);
}

TEST(ShardedTraining, KMeansFillsEmptyClustersFromAnyShard) {
  // Few different samples, each in every shard, so that seeds repeat and clusters are empty.
  MatrixF x = ClusteredSamples(3, kSamples, 8);
  for (Index i = 0; i < kSamples; ++i) {
    if (i % 500 != 3) x.col(i) = x.col(3 + 500 * (i % 9));
  }
  const KMeansOptions options{
      .clusters = 24, .iterations = 6, .tolerance = 0, .seeding_samples = 25};
  const auto whole = TrainKMeans(options, MatrixColumns(x), RunContext());
  Index empty = 0;
  for (const KMeansIteration& iteration : whole.summary.iterations) empty += iteration.empty;
  ASSERT_GT(empty, 2);
  ExpectTheSameFromVectorShards(
      x, [&](const RunContext& context) { return TrainKMeans(options, MatrixColumns(x), context); },
      [&](Shards& shards, const RunContext& context) {
        return TrainKMeans(options, shards, context);
      },
      Cuts(kSamples));
}

TEST(ShardedTraining, PcaHasTheBytesOfOneProcess) {
  const MatrixF x = ClusteredSamples(7, kManySamples, 9);
  const Moments whole = ComputeMoments(MatrixColumns(x), RunContext({.threads = 3}));
  for (const std::vector<Index>& ends : kCutsOfBlocks) {
    const TempFolder folder;
    const std::vector<ShardPlace> places = PlacesOf(ends, kManySamples);
    FileShards shards(Env::Posix(), folder.path(), "job", places,
                      Elsewhere(folder, places, VectorShards(x)));
    MomentsPass pass;
    const Moments merged = RunSums(shards, pass, Moments(), RunContext());
    EXPECT_TRUE(SameBits(merged.scatter(), whole.scatter()));
    EXPECT_TRUE(SameBits(merged.mean(), whole.mean()));
    EXPECT_EQ(merged.count(), kManySamples);
    EXPECT_TRUE(SameBits(ComputePca(merged, 4).basis, ComputePca(whole, 4).basis));
  }
}

// Tiny images, of few and of many descriptors.
class SmallImages {
 public:
  SmallImages() : images_(6) {
    for (Index i = 0; i < kSamples; ++i) {
      images_.Add(std::to_string(i),
                  RectifiedFeatures(6, i % 3 == 0 ? 9 : 2, 7 + static_cast<uint64_t>(i)));
      classes_.push_back(static_cast<int32_t>(i % 3));
    }
    one_hot_.setZero(3, kSamples);
    for (Index i = 0; i < kSamples; ++i) one_hot_(i % 3, i) = 1;
  }

  const FeatureSet& images() const { return images_; }
  Labels labels() const { return Labels::Single(classes_); }

  // Records of every shard, which know nothing of the other shards.
  MakeShard Shards(const std::vector<ShardPlace>& places) const {
    auto records = std::make_shared<std::vector<std::unique_ptr<MemoryRecords>>>();
    for (const ShardPlace& place : places) {
      std::vector<Index> mine;
      for (Index i = 0; i < place.count; ++i) mine.push_back(place.first + i);
      records->push_back(std::make_unique<MemoryRecords>(images_.dimension()));
      ReduceImages(FeatureSubset(images_, mine), true, *records->back(), RunContext());
    }
    return [this, records](size_t number, const ShardPlace& place) -> std::unique_ptr<Shard> {
      return std::make_unique<LabelledShard>(place, *records->at(number), one_hot_);
    };
  }

 private:
  class LabelledShard : public ImageShard {
   public:
    LabelledShard(const ShardPlace& place, const RecordStore& records, const MatrixF& labels)
        : ImageShard(place, records), labels_(labels.middleCols(place.first, place.count)) {
      Give(kSashLabels, labels_);
    }

   private:
    MatrixColumns labels_;
  };

  MemoryFeatureSet images_;
  std::vector<int32_t> classes_;
  MatrixF one_hot_;
};

TEST(ShardedTraining, SahHasTheBytesOfOneProcess) {
  const SmallImages images;
  SahOptions options;
  options.bits = 5;
  options.iterations = 2;
  options.rba.iterations = 2;
  ExpectTheSameFromShards(
      kSamples,
      [&](const RunContext& context) { return TrainSah(options, images.images(), context); },
      [&](const std::vector<ShardPlace>& places) { return images.Shards(places); },
      [&](Shards& shards, const RunContext& context) { return TrainSah(options, shards, context); },
      Cuts(kSamples));
}

TEST(ShardedTraining, SashHasTheBytesOfOneProcess) {
  const SmallImages images;
  for (SashOptions options : {SashOptions(), SashOptions::Paper(5)}) {
    options.joint.bits = 5;
    options.joint.iterations = 2;
    options.joint.rba.iterations = 2;
    ExpectTheSameFromShards(
        kSamples,
        [&](const RunContext& context) {
          return TrainSash(options, images.images(), images.labels(), context);
        },
        [&](const std::vector<ShardPlace>& places) { return images.Shards(places); },
        [&](Shards& shards, const RunContext& context) {
          return TrainSash(options, shards, context);
        },
        {Cuts(kSamples)[1], Cuts(kSamples)[3]});
  }
}

// Pictures of three images each, which differ more in some directions than in others.
MatrixF ImagesOfPictures(Index pictures) {
  const MatrixF centres = ClusteredSamples(9, pictures, 10);
  MatrixF images = ClusteredSamples(9, 3 * pictures, 11);
  images.array().colwise() *= VectorF::LinSpaced(9, 0.1F, 0.9F).array();
  for (Index i = 0; i < images.cols(); ++i) images.col(i) += 3 * centres.col(i / 3);
  return images;
}

TEST(ShardedTraining, WhiteningHasTheBytesOfOneProcess) {
  constexpr Index kPictures = 2 * kShardAlignment + 700;
  const MatrixF x = ImagesOfPictures(kPictures);
  for (const char* method : {"itq", "rba"}) {
    const MethodSettings settings{.method = method, .bits = 5, .options = {{"whiten", 1}}};
    const MatrixColumns all(x);
    const auto whole = [&](const RunContext& context) {
      return TrainOnVectors(settings, {.vectors = all, .per_picture = 3}, context);
    };
    ExpectTheSameFromShards(
        x.cols(), whole,
        [&](const std::vector<ShardPlace>&) -> MakeShard {
          return [&](size_t, const ShardPlace& place) -> std::unique_ptr<Shard> {
            return std::make_unique<OwningViewShard>(place, x);
          };
        },
        [&](Shards& shards, const RunContext& context) {
          return TrainOnShards(settings, shards, 3, context);
        },
        {{x.cols()}, {3 * kShardAlignment, 6 * kShardAlignment, x.cols()}});
  }
}

TEST(ShardedTraining, WhiteningRefusesHalfPictures) {
  const MatrixF x = ImagesOfPictures(kShardAlignment);
  const TempFolder folder;
  const auto train = [&](Index end, Index per_picture) {
    const std::vector<ShardPlace> places = PlacesOf({end, x.cols()}, x.cols());
    FileShards shards(Env::Posix(), folder.path(), "job", places,
                      Elsewhere(folder, places, [&](size_t, const ShardPlace& place) {
                        return std::make_unique<OwningViewShard>(place, x);
                      }));
    TrainOnShards({.method = "itq", .bits = 5, .options = {{"whiten", 1}}}, shards, per_picture,
                  RunContext());
  };
  ExpectError(ErrorCode::kInvalidArgument, {"whole pictures of 3"},
              [&] { train(kShardAlignment, 3); });
  ExpectError(ErrorCode::kInvalidArgument, {}, [&] { train(2 * kShardAlignment, 1); });
}

TEST(ShardedTraining, RefusesWhatIsNoSum) {
  const auto refusal = [](const MethodSettings& settings) {
    ExpectError(ErrorCode::kUnsupported, {settings.method}, [&] { RequireShardable(settings); });
    return RefusalOf([&] { RequireShardable(settings); });
  };
  EXPECT_THAT(refusal({.method = "sav"}), ::testing::HasSubstr("itq with whiten"));
  EXPECT_THAT(refusal({.method = "lsh"}), ::testing::HasSubstr("sah, rba, itq, sash"));
  EXPECT_THAT(refusal({.method = "sah", .options = {{"whiten", 1}}}),
              ::testing::HasSubstr("expected itq or rba"));
  EXPECT_THAT(refusal({.method = "sash", .options = {{"anchors", 100}}}),
              ::testing::HasSubstr("linear"));
  RequireShardable({.method = "rba", .options = {{"whiten", 1}}});
}

// A training of ITQ in two shards, whose parts are counted and which can be stopped before one.
class ItqJob {
 public:
  explicit ItqJob(uint64_t seed) : x_(ClusteredSamples(4, 3000, seed)) {
    options_.bits = 3;
    options_.iterations = 4;
  }

  std::string Whole() const { return BytesOf(TrainItq(options_, MatrixColumns(x_), RunContext())); }

  std::string Run(const TempFolder& folder, const std::string& job, int stop_at = -1) {
    const auto compute = Elsewhere(folder, places_, VectorShards(x_));
    FileShards shards(Env::Posix(), folder.path(), job, places_,
                      [&](int step, const std::vector<int>& missing) {
                        for (const int shard : missing) {
                          if (step == stop_at && shard == 1) {
                            throw Error(ErrorCode::kResources, "no machine is left");
                          }
                          compute(step, {shard});
                          ++computed;
                        }
                      });
    std::string bytes = BytesOf(TrainItq(options_, shards, RunContext()));
    steps = shards.steps();
    return bytes;
  }

  int computed = 0, steps = 0;

 private:
  MatrixF x_;
  ItqOptions options_;
  std::vector<ShardPlace> places_ = PlacesOf({2048, 3000}, 3000);
};

TEST(ShardedTraining, GoesOnWhereItStopped) {
  const TempFolder folder;
  ItqJob job(1);
  ExpectError(ErrorCode::kResources, {"no machine"}, [&] { job.Run(folder, "job", 3); });
  EXPECT_EQ(job.computed, 7);
  EXPECT_EQ(job.Run(folder, "job"), job.Whole());
  EXPECT_EQ(job.computed, 2 * job.steps);  // none was computed twice
  EXPECT_EQ(job.Run(folder, "job"), job.Whole());
  EXPECT_EQ(job.computed, 2 * job.steps);
}

TEST(ShardedTraining, TakesNothingFromAnotherJob) {
  const TempFolder folder;
  ItqJob one(1), other(2);
  one.Run(folder, "one");
  EXPECT_EQ(other.Run(folder, "other"), other.Whole());
  EXPECT_EQ(other.computed, 2 * other.steps);
}

TEST(ShardedTraining, ADamagedPartIsNotMerged) {
  const TempFolder folder;
  ItqJob job(1);
  job.Run(folder, "job");
  const std::filesystem::path path = folder / "step-2.shard-1.part";
  std::string bytes = FileContent(path);
  bytes[64] = static_cast<char>(bytes[64] ^ 1);  // the first byte after the header
  std::ofstream(path, std::ios::binary) << bytes;
  ExpectError(ErrorCode::kCorrupt, {"step-2.shard-1.part", "section"},
              [&] { job.Run(folder, "job"); });
}

// Notes are written now and then, and may be lost: the steps since are done again.
TEST(ShardedTraining, AWorkerDoesWithoutNotes) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(4, 3000, 1);
  ItqJob job(1);
  job.Run(folder, "job");
  const std::string expected = FileContent(folder / "step-3.shard-1.part");
  const auto remake = [&](const std::string& what) {
    std::filesystem::remove(folder / "step-3.shard-1.part");
    VectorShard shard({.first = 2048, .count = 952, .total = 3000}, x);
    ShardWorker(Env::Posix(), folder.path(), 1, shard).Compute(3, RunContext());
    EXPECT_EQ(FileContent(folder / "step-3.shard-1.part"), expected) << what;
  };
  ASSERT_TRUE(std::filesystem::exists(folder / "step-0.shard-1.notes"));
  remake("as it is");
  for (const int step : {0, 1, 2}) {
    std::filesystem::copy_file(folder / "step-0.shard-0.notes",
                               folder / fmt::format("step-{}.shard-1.notes", step),
                               std::filesystem::copy_options::overwrite_existing);
  }
  remake("notes of another shard, or of another step");
  for (const int step : {0, 1, 2}) {
    std::ofstream(folder / fmt::format("step-{}.shard-1.notes", step)) << "damaged";
  }
  remake("damaged");
  for (const int step : {0, 1, 2}) {
    std::filesystem::remove(folder / fmt::format("step-{}.shard-1.notes", step));
  }
  remake("none");
}

// With notes the steps before need not be done again: here they could not be.
TEST(ShardedTraining, AWorkerGoesOnFromItsNotes) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(4, 3000, 1);
  ItqJob job(1);
  job.Run(folder, "job");  // every step by a worker of its own, which begins by writing notes
  const std::string expected = FileContent(folder / "step-3.shard-1.part");
  std::filesystem::remove(folder / "step-0.pass");
  std::filesystem::remove(folder / "step-3.shard-1.part");
  VectorShard shard({.first = 2048, .count = 952, .total = 3000}, x);
  ShardWorker(Env::Posix(), folder.path(), 1, shard).Compute(3, RunContext());
  EXPECT_EQ(FileContent(folder / "step-3.shard-1.part"), expected);
  for (const int step : {1, 2}) {
    std::filesystem::remove(folder / fmt::format("step-{}.shard-1.notes", step));
  }
  ExpectError(ErrorCode::kNotFound, {"step-0.pass"},
              [&] { ShardWorker(Env::Posix(), folder.path(), 1, shard).Compute(3, RunContext()); });
}

// One that has gone ahead can go back, and one that was left behind catches up.
TEST(ShardedTraining, AWorkerDoesStepsInAnyOrder) {
  const TempFolder folder;
  const MatrixF x = ClusteredSamples(4, 3000, 1);
  ItqJob job(1);
  job.Run(folder, "job");
  VectorShard shard({.first = 2048, .count = 952, .total = 3000}, x);
  ShardWorker worker(Env::Posix(), folder.path(), 1, shard);
  for (const int step : {2, 3, 1, 5, 5, 0, 4}) {
    const std::filesystem::path part = folder / fmt::format("step-{}.shard-1.part", step);
    const std::string expected = FileContent(part);
    std::filesystem::remove(part);
    worker.Compute(step, RunContext());
    EXPECT_EQ(FileContent(part), expected) << "step " << step;
  }
}

TEST(ShardedTraining, RefusesShardsThatAreNotTheWhole) {
  const TempFolder folder;
  const auto make = [&](std::vector<ShardPlace> places) {
    return RefusalOf(
        [&] { FileShards(Env::Posix(), folder.path(), "job", std::move(places), {}); });
  };
  EXPECT_THAT(make({}), ::testing::HasSubstr("no shards"));
  EXPECT_THAT(make({{0, 1000, 3000}, {1000, 2000, 3000}}),
              ::testing::HasSubstr("multiple of 2048"));
  EXPECT_THAT(make({{0, 2048, 3000}}), ::testing::HasSubstr("952 of 3000 samples are missing"));
  EXPECT_THAT(make({{2048, 952, 3000}, {0, 2048, 3000}}), ::testing::HasSubstr("from sample 0 on"));
  EXPECT_THAT(make({{0, 4096, 3000}}), ::testing::HasSubstr("not inside 3000"));
}

TEST(ShardedTraining, RefusesAPassThatIsNotKnown) {
  ExpectError(ErrorCode::kUnsupported, {"\"walk\""}, [] { (void)MakePass("walk"); });
}

}  // namespace
}  // namespace bitpool
