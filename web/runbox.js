/* runbox.js: "Run on the card", the devices that would run it, and what has become of it. Each kind of partition
 * has one; the page follows the job that was sent last. */
import { h } from './dom.js';
import { isFinal, runJob } from './jobs.js';
import { deviceNodes, jobNodes } from './jobview.js';
import { state } from './state.js';
import { SweepForm } from './sweepform.js';

const fieldOf = (problem) => problem?.in ?? problem?.field ?? null;

export class RunBox {
    /* specOf(doc): what would be sent; fields: names of those that show their own problems; more: others that a sweep
     * may vary */
    constructor(specOf, fields, more) {
        Object.assign(this, { specOf, fields });
        this.run = h('button', { type: 'submit', class: 'primary' }, 'Run on the card');
        this.devices = h('p', { class: 'devices' });
        this.job = h('div', { class: 'job', role: 'status' });
        const sweep = new SweepForm(specOf, [...fields, ...more]);
        this.el = [h('div', { class: 'run' }, this.run, this.devices), this.job, sweep.el];
    }

    submit(event) {
        event.preventDefault();
        runJob(this.specOf(state.doc));
    }

    /* The refusal of what stands in the form now, and the field that it is of: {field, problem} or null. */
    show({ doc, job, devices }) {
        const spec = this.specOf(doc);
        const mine = job?.sent.kind === spec.kind ? job : null;
        this.run.disabled = Boolean(mine && !isFinal(mine));
        if (mine !== this.shown) this.job.replaceChildren(...jobNodes(mine, { fields: this.fields }));
        this.shown = mine;
        this.showDevices(devices);
        const same = mine && JSON.stringify(mine.sent) === JSON.stringify(spec);
        const problem = (same && (mine.problem ?? mine.failure)) || null;
        return problem && { field: fieldOf(problem), problem };
    }

    /* Asked for again and again, and mostly the same. */
    showDevices(answer) {
        const told = JSON.stringify([
            answer?.devices?.map(({ device, state: now }) => [device?.name, now]),
            answer?.queue,
            answer?.problem?.message,
        ]);
        if (told !== this.told) this.devices.replaceChildren(...deviceNodes(answer));
        this.told = told;
    }
}
