/* run.mjs: all tests of the page. Arguments choose those whose names hold one of the words. */
import './pictures.mjs';
import './editor.mjs';
import './explain.mjs';
import './modes.mjs';
import './document.mjs';
import './copy.mjs';
import './mma.mjs';
import './jobs.mjs';
import './token.mjs';
import './banks.mjs';
import './access.mjs'; /* after jobs.mjs: there are jobs to be looked at */
import { runAll } from './harness.mjs';

process.exit((await runAll(process.argv.slice(2))) ? 0 : 1);
