/* token.js: the field for the token of a daemon that asks for one. It opens by itself when the daemon does. The token
 * is kept for this tab (api.js), and stands neither in the link nor in anything that is exported. */
import { hasToken, onLocked, setToken } from './api.js';
import { h } from './dom.js';
import { flush } from './state.js';

/* With another token all is asked anew: the page begins again where it is. */
function use(text) {
    setToken(text);
    flush();
    location.reload();
}

function dialogOf() {
    const field = h('input', {
        id: 'token-text',
        type: 'password',
        autocomplete: 'off',
        spellcheck: 'false',
        placeholder: 'lt_…',
    });
    const submit = (event) => {
        event.preventDefault();
        use(field.value.trim());
    };
    const said = h('p', { class: 'hint' });
    const forget = h('button', { type: 'button', onclick: () => use('') }, 'Forget it');
    const dialog = h(
        'dialog',
        { class: 'dialog token', 'aria-label': 'Token' },
        h(
            'form',
            { onsubmit: submit },
            h('label', { for: 'token-text' }, 'Token'),
            field,
            said,
            h(
                'p',
                { class: 'token-actions' },
                h('button', { type: 'submit', class: 'primary' }, 'Use it'),
                forget,
                h('button', { type: 'button', onclick: () => dialog.close() }, 'Close'),
            ),
        ),
    );
    const open = (why) => {
        said.textContent = why;
        forget.hidden = !hasToken();
        if (!dialog.open) dialog.showModal();
        field.focus();
    };
    return { dialog, open };
}

export function startToken(button) {
    const { dialog, open } = dialogOf();
    document.body.append(dialog);
    button.hidden = !hasToken();
    button.addEventListener('click', () => open('It is kept until this tab is closed.'));
    let told = false;
    onLocked(() => {
        button.hidden = false;
        if (told) return;
        told = true;
        open(
            hasToken()
                ? 'The daemon does not know this token, or it was revoked.'
                : 'This daemon answers who shows a token: "layoutd token add NAME" prints one.',
        );
    });
}
