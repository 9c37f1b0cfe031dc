/* SPDX-License-Identifier: Apache-2.0 */
/* turns.ts - moves from where one is (to the next span, the row below, the next hit) are made one after the other: a key that is pressed
 * while the last move still asks the server goes on from where that one arrives. Otherwise both would begin at the same span, and one were lost. */

let last: Promise<void> = Promise.resolve();
let waiting = 0;

/** Whether a move is under way. What a key that is held down repeats is not worth waiting for: it would go on after the key was let go. */
export const isMoving = (): boolean => waiting > 0;

/** Makes a move once those before it have arrived; at once, where there are none. */
export function inTurn(move: () => Promise<void> | void): Promise<void> {
	const go = async (): Promise<void> => move();
	last = (waiting++ ? last.then(go) : go()).catch(() => undefined).then(() => { waiting--; });
	return last;
}
