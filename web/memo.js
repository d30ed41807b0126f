/* memo.js: views compare by identity, so what is made from the state is made once a state. */
export function memo(make) {
    let args = [];
    let made;
    return (...next) => {
        if (next.length !== args.length || next.some((arg, i) => arg !== args[i])) made = make(...next);
        args = next;
        return made;
    };
}
