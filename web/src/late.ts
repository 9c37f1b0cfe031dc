/* SPDX-License-Identifier: Apache-2.0 */
/* late.ts - what the first picture does not need: panels that are opened later, pictures that are saved, the data of a self-contained page.
 * It is a script of its own (build.mjs); state/later.ts gets it. */
export { inlineSource } from "./data/inline";
export { Compare } from "./panels/Compare";
export { Details } from "./panels/Details";
export { Flame } from "./panels/Flame";
export { Help } from "./panels/Help";
export { Legend } from "./panels/Legend";
export { Notes } from "./panels/Notes";
export { Prediction } from "./panels/Prediction";
export { Roofline } from "./panels/Roofline";
export { SearchPanel } from "./panels/SearchPanel";
export { Selection } from "./panels/Selection";
export { Sql } from "./panels/Sql";
export { Table } from "./panels/Table";
export { WhatIf } from "./panels/WhatIf";
export { pngOf, svgOf } from "./timeline/picture";
