// Asks Node's c-ares and prints how the lookup ended as one line of JSON.
//
//   node lookup.js NAME [FAMILY]   dns.resolve4; with inet6 dns.resolve6; - for NAME: those on standard input, one after the other
const dns = require('dns');
const fs = require('fs');

const [name, family] = process.argv.slice(2);
const resolve = family === 'inet6' ? dns.resolve6 : dns.resolve4;
const print = (outcome) => console.log(JSON.stringify(outcome));
const names = name === '-' ? fs.readFileSync(0, 'utf8').split('\n').slice(0, -1) : [name];
const next = () => {
    if (names.length === 0) return;
    try {
        resolve(names.shift(), (error, addrs) => {
            if (error) print({ status: 'error', code: 'ARES_' + error.code, text: error.message });
            else print({ status: 'ok', addrs });
            next();
        });
    } catch (error) {
        print({ status: 'error', code: error.code, text: error.message });
    }
};
next();
