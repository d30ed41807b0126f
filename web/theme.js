/* theme.js: before the first paint, so that a dark page does not flash white. A classic script for that
 * reason. */
try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
    /* storage may be forbidden; the system's choice holds */
}
