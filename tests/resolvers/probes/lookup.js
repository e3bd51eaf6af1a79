// Asks Node's c-ares and prints how the lookup ended as one line of JSON.
//
//   node lookup.js NAME [FAMILY]   dns.resolve4; with inet6 dns.resolve6
const dns = require('dns');

const [name, family] = process.argv.slice(2);
const resolve = family === 'inet6' ? dns.resolve6 : dns.resolve4;
const print = (outcome) => console.log(JSON.stringify(outcome));
try {
    resolve(name, (error, addrs) => {
        if (error) print({ status: 'error', code: 'ARES_' + error.code, text: error.message });
        else print({ status: 'ok', addrs });
    });
} catch (error) {
    print({ status: 'error', code: error.code, text: error.message });
}
