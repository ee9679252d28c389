// What becomes of groups of duplicates in the mock library.

/** @typedef {import("./library.js").MockLibrary} MockLibrary */

/** @param {Api.DuplicateGroup[]} groups */
export function summary(groups) {
  const count = (/** @type {string} */ kind) => {
    const these = groups.filter((group) => group.kind === kind);
    return {
      groups: these.length,
      pictures: these.reduce((sum, group) => sum + group.members.length - 1, 0),
      bytes: these.reduce((sum, group) => sum + group.bytes, 0),
    };
  };
  return { exact: count("exact"), edited: count("edited"), part: count("part"), similar: count("similar") };
}

/** @param {MockLibrary} library @param {Api.DecisionRequest} request @param {boolean} allowChanges @returns {Api.Decision} */
export function decide(library, request, allowChanges) {
  /** @type {{keep: number[], gone: number[], groups: number, apart: string[]}} */
  const effect = { keep: [], gone: [], groups: 1, apart: [] };
  if (request.action === "keep") {
    effect.keep = request.keep;
    effect.gone = request.pictures.filter((id) => !request.keep.includes(id));
  } else if (request.action === "not_duplicates") {
    effect.apart = library.groups
      .filter(({ members }) => members.every(({ picture }) => request.pictures.includes(picture.id)))
      .map(({ id }) => id);
  } else {
    const groups = library.openGroups().filter(({ kind }) => kind === request.kind);
    effect.groups = groups.length;
    effect.keep = groups.map(({ keep }) => keep);
    effect.gone = groups.flatMap(({ members, keep }) =>
      members.map(({ picture }) => picture.id).filter((id) => id !== keep),
    );
  }
  const preview = request.action === "keep_suggested" && request.preview;
  /** @type {Api.Decision} */
  const decision = {
    id: preview ? "" : String(library.decided.length + 1),
    action: request.action,
    groups: effect.groups,
    kept: effect.keep,
    gone: effect.gone,
    bytes: effect.gone.reduce((sum, id) => sum + (library.find(id)?.bytes ?? 0), 0),
    moved: allowChanges && request.action !== "not_duplicates" && !preview,
    failures: [],
    time: "2026-11-16T09:00:00Z",
    undone: false,
  };
  if (!preview) library.decided.push({ decision, hidden: new Set(effect.gone), apart: new Set(effect.apart) });
  return decision;
}
