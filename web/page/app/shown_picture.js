import { notifyError } from "./notices.js";
import { PictureViewer } from "./picture_viewer.js";
import { changedAddress, currentRoute, go, goBack } from "./routes.js";

/**
 * What a view knows of the picture that the address asks to show.
 *
 * @typedef {object} Shown
 * @property {import("./api.js").Picture} picture
 * @property {[string, string][]} facts
 * @property {((steps: number) => Promise<Record<string, number> | null>) | null} step the parameters of a neighbour
 */

/** Opens and closes the viewer as the address says: ?show=ID. */
export class ShownPicture {
  /**
   * @param {(id: number, parameters: URLSearchParams) => Promise<Shown>} find
   * @param {() => void} onClosed
   */
  constructor(find, onClosed) {
    this.viewer = new PictureViewer();
    this.find = find;
    this.onClosed = onClosed;
  }

  /** @param {import("./routes.js").Route} route */
  async follow({ library, parameters }) {
    const id = Number(parameters.get("show"));
    if (!id) {
      const wasOpen = this.viewer.isOpen;
      this.close();
      if (wasOpen) this.onClosed();
      return;
    }
    try {
      const { picture, facts, step } = await this.find(id, parameters);
      if (currentRoute().parameters.get("show") !== String(id)) return; // the user has gone on
      const stepTo = async (/** @type {number} */ steps) => {
        const neighbour = await step?.(steps);
        if (neighbour) go(changedAddress(neighbour), { replace: true });
      };
      this.viewer.show(picture, { library: library ?? "", onClose: leave, onStep: step && stepTo, facts });
    } catch (error) {
      notifyError(error);
      go(changedAddress({ show: null, at: null }), { replace: true });
    }
  }

  close() {
    this.viewer.close();
  }
}

const leave = () => goBack(changedAddress({ show: null, at: null }));
