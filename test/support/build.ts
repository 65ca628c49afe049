/** What tests of the whole program run is the build of this source. */
export { buildIfChanged as default } from '../../scripts/build.js';
