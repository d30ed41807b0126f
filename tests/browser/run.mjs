/* run.mjs: all tests of the page. Arguments choose those whose names hold one of the words. */
import './pictures.mjs';
import './editor.mjs';
import './document.mjs';
import './access.mjs';
import './partition.mjs';
import { runAll } from './harness.mjs';

process.exit((await runAll(process.argv.slice(2))) ? 0 : 1);
