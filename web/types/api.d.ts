// What the server answers, as openapi.json describes it. For the type checker only: the page does not load this.
declare namespace Api {
  interface Server {
    version: string;
    access: "none" | "read" | "write";
    keys: boolean;
    allow_changes: boolean;
    limits: { body_bytes: number; pixels: number; page: number };
  }

  interface Library {
    name: string;
    folder: string;
    indexed: boolean;
    pictures: number;
    failed: number;
    bits: number;
    duplicate_radius: number;
    generation: number;
    job: string | null;
    trash: number;
  }

  interface Picture {
    id: number;
    path: string;
    folder: string;
    name: string;
    width: number;
    height: number;
    bytes: number;
    modified: string;
    failure: string | null;
    thumbnail: string;
    preview: string;
    original: string;
  }

  interface Pictures {
    pictures: Picture[];
    total: number;
    offset: number;
    next: string | null;
  }

  interface Folder {
    path: string;
    name: string;
    pictures: number;
    failed: number;
    folders: number;
  }

  interface Month {
    month: string;
    pictures: number;
    offset: number;
  }

  interface Match {
    picture: Picture;
    distance: number;
    score: number;
  }

  interface Matches {
    bits: number;
    duplicate_radius: number;
    generation: number;
    matches: Match[];
  }

  type DuplicateKind = "exact" | "edited" | "part" | "similar";

  interface DuplicateMember {
    picture: Picture;
    kind: DuplicateKind | null;
    distance: number;
    keep: boolean;
  }

  interface DuplicateGroup {
    id: string;
    kind: DuplicateKind;
    keep: number;
    reason: string;
    members: DuplicateMember[];
    bytes: number;
  }

  interface DuplicateCount {
    groups: number;
    pictures: number;
    bytes: number;
  }

  type DuplicateSummary = Record<DuplicateKind, DuplicateCount>;

  interface Duplicates {
    groups: DuplicateGroup[];
    total: number;
    next: string | null;
    summary: DuplicateSummary;
    generation: number;
  }

  interface Failure {
    path: string;
    reason: string;
  }

  type DecisionRequest =
    | { action: "keep"; keep: number[]; pictures: number[] }
    | { action: "not_duplicates"; pictures: number[] }
    | { action: "keep_suggested"; kind: DuplicateKind; rule?: string; prefer_folder?: string; preview?: boolean };

  interface Decision {
    id: string;
    action: "keep" | "not_duplicates" | "trash" | "keep_suggested";
    groups: number;
    kept: number[];
    gone: number[];
    bytes: number;
    moved: boolean;
    failures: Failure[];
    time: string;
    undone: boolean;
  }

  interface Decisions {
    decisions: Decision[];
    next: string | null;
  }

  interface UpdateSummary {
    added: number;
    changed: number;
    removed: number;
    unchanged: number;
    failed: number;
    stopped: boolean;
    seconds: number;
  }

  interface Job {
    id: string;
    library: string;
    state: "running" | "done" | "failed" | "cancelled";
    task: string;
    unit: string;
    done: number;
    total: number;
    rate: number;
    seconds_left: number | null;
    failed: number;
    failures: Failure[];
    started: string;
    ended: string | null;
    summary: UpdateSummary | null;
    error: string | null;
  }
}
