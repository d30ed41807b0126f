/* theme_switch.js: light or dark: the system's choice until somebody makes another. theme.js sets it before the
 * first paint. */
import { icon } from './dom.js';
import { change } from './state.js';

const NEXT = { system: 'light', light: 'dark', dark: 'system' };
const ICON = { system: 'auto', light: 'sun', dark: 'moon' };
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

export function startTheme(button) {
    const root = document.documentElement;
    const chosen = () => root.dataset.theme ?? 'system';
    const apply = () => {
        const theme = chosen();
        button.replaceChildren(icon(ICON[theme]));
        button.setAttribute('aria-label', `Theme: ${theme}`);
        button.title = `Theme: ${theme}`;
        change((s) => {
            s.dark = theme === 'system' ? prefersDark.matches : theme === 'dark';
        });
    };
    button.addEventListener('click', () => {
        const theme = NEXT[chosen()];
        if (theme === 'system') delete root.dataset.theme;
        else root.dataset.theme = theme;
        try {
            localStorage.setItem('theme', theme);
        } catch {
            /* storage may be forbidden; then the choice lasts as long as the page */
        }
        apply();
    });
    prefersDark.addEventListener('change', apply);
    apply();
}
