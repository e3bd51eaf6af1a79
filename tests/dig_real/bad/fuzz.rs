//! Record data from dice: for every type that BIND knows, data that is nearly
//! as it should be.
//!
//! The name that is asked for says what is answered: `fSEED.tTYPE.dice.test`,
//! so a run that differs can be asked again by hand.

#![expect(clippy::too_many_lines, reason = "tables are as long as they are")]

use super::message::{Query, name, opt, option, record, rr};
use super::serve::Act;
use super::{Acts, Bad, bad};

/// Questions of one run of dig.
const SEEDS: u32 = 60;

/// Types and what their data is made of: numbers of 1, 2, 4 or 6 bytes, `N` a
/// name, `T` a text, `D` digits, `B` a map of types, `P` parameters of a
/// service, `L` bytes behind two of length, `A` a prefix, `E` some time,
/// `Q` what replaces texts, `R` any bytes.
const TYPES: &[(u16, &str)] = &[
    (1, "4"),
    (2, "N"),
    (6, "NN44444"),
    (7, "N"),
    (10, "R"),
    (11, "41R"),
    (13, "TT"),
    (14, "NN"),
    (15, "2N"),
    (16, "TTT"),
    (17, "NN"),
    (18, "2N"),
    (19, "D"),
    (20, "TT"),
    (21, "2N"),
    (22, "R"),
    (23, "N"),
    (24, "2114442NR"),
    (25, "211R"),
    (26, "2NN"),
    (27, "TTT"),
    (28, "4444"),
    (29, "1111444"),
    (30, "NR"),
    (31, "R"),
    (32, "R"),
    (33, "222N"),
    (34, "1D"),
    (35, "22TTQN"),
    (36, "2N"),
    (37, "221R"),
    (38, "1444N"),
    (39, "N"),
    (40, "111R"),
    (42, "AA"),
    (43, "211R"),
    (44, "11R"),
    (45, "1114R"),
    (46, "2114442NR"),
    (47, "NB"),
    (48, "211R"),
    (49, "21R"),
    (50, "112TTB"),
    (51, "112T"),
    (52, "111R"),
    (53, "111R"),
    (55, "112RN"),
    (56, "TT"),
    (57, "211R"),
    (58, "NN"),
    (59, "211R"),
    (60, "211R"),
    (61, "R"),
    (62, "42B"),
    (63, "411RRRR"),
    (64, "2NPP"),
    (65, "2NPP"),
    (66, "212N"),
    (67, "R"),
    (68, "R"),
    (99, "TT"),
    (100, "R"),
    (104, "244"),
    (105, "24"),
    (106, "244"),
    (107, "2N"),
    (108, "6"),
    (109, "44"),
    (249, "N4422LL"),
    (256, "22R"),
    (257, "1TR"),
    (258, "TT"),
    (259, "441TR"),
    (260, "114"),
    (261, "TT"),
    (262, "TT"),
    (32768, "211R"),
    (32769, "211R"),
    (65533, "R"),
];

struct Dice(u32);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % sides
    }

    fn byte(&mut self) -> u8 {
        let most = [4, 20, 256][self.roll(3) as usize];
        u8::try_from(self.roll(most)).unwrap()
    }

    fn bytes(&mut self, count: u32) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    fn piece(&mut self, kind: char) -> Vec<u8> {
        match kind {
            '1' => self.bytes(1),
            '2' | '4' | '6' => self.bytes(kind.to_digit(10).unwrap()),
            'N' => match self.roll(8) {
                0 => vec![0],
                1 => vec![0xc0, 12],
                2 => b"\x01.\x02x\x00\x03\"\\(\x00".to_vec(),
                _ => b"\x01n\x04test\x00".to_vec(),
            },
            'T' => {
                let count = self.roll(6);
                let text = self.bytes(count);
                [&[u8::try_from(count).unwrap()], &text[..]].concat()
            }
            'D' => {
                let count = self.roll(9);
                let digits = (0..count).map(|_| b'0' + u8::try_from(self.roll(10)).unwrap());
                let digits: Vec<u8> = digits.collect();
                [&[u8::try_from(count).unwrap()], &digits[..]].concat()
            }
            'B' => {
                let count = self.roll(4);
                let bits = self.bytes(count);
                let window = u8::try_from(self.roll(3)).unwrap();
                [&[window, u8::try_from(count).unwrap()], &bits[..]].concat()
            }
            'P' => {
                let (key, count) = (self.roll(9), [0, 2, 4, 16, 3][self.roll(5) as usize]);
                let value = if self.roll(2) == 0 {
                    b"\x02h2\x02h3/{dns}xxxxxx"[..count as usize].to_vec()
                } else {
                    self.bytes(count)
                };
                let head = [
                    0,
                    u8::try_from(key).unwrap(),
                    0,
                    u8::try_from(count).unwrap(),
                ];
                [&head[..], &value].concat()
            }
            // kdns does not judge regular expressions, so there are plain ones.
            'Q' => {
                let texts: [&[u8]; 7] = [
                    b"\x00",
                    b"\x05!a!b!",
                    b"\x06!a!b!i",
                    b"\x03!a!",
                    b"\x08!(a)!\\1!",
                    b"\x07!a!\\1!i",
                    b"\x051a1b1",
                ];
                texts[self.roll(7) as usize].to_vec()
            }
            // Of more than 999,999,999 seconds dig's YAML loses a digit.
            'E' => [&[0], &self.bytes(3)[..]].concat(),
            'L' => {
                let count = self.roll(5);
                let bytes = self.bytes(count);
                [&[0, u8::try_from(count).unwrap()], &bytes[..]].concat()
            }
            'A' => {
                let (family, count) = (self.roll(3), self.roll(6));
                let head = [
                    0,
                    u8::try_from(family).unwrap(),
                    self.byte(),
                    u8::try_from(count).unwrap(),
                ];
                [&head[..], &self.bytes(count)].concat()
            }
            _ => {
                let count = self.roll(24);
                self.bytes(count)
            }
        }
    }

    /// Half of it is as it should be.
    fn data(&mut self, pieces: &str) -> Vec<u8> {
        let mut data: Vec<u8> = pieces.chars().flat_map(|kind| self.piece(kind)).collect();
        match self.roll(8) {
            0 => {
                let keep = data.len().saturating_sub(1 + self.roll(3) as usize);
                data.truncate(keep);
            }
            1 => {
                let more = 1 + self.roll(2);
                data.extend(self.bytes(more));
            }
            2 if !data.is_empty() => {
                let at = self.roll(u32::try_from(data.len()).unwrap()) as usize;
                data[at] = self.byte();
            }
            3 => {
                let keep = self.roll(u32::try_from(data.len()).unwrap() + 1) as usize;
                data.truncate(keep);
            }
            _ => {}
        }
        data
    }
}

fn dice(query: &Query) -> Vec<Act> {
    let rdtype = query.second_number();
    let pieces = TYPES.iter().find(|(known, _)| *known == rdtype).unwrap().1;
    let data = dice_of(query).data(pieces);
    let one = record(&[0xc0, 12], (rdtype, 1), 300, &data, None);
    vec![query.with(&[one]).into()]
}

/// Option codes and what their data is made of, as in [`TYPES`].
const OPTIONS: &[(u16, &str)] = &[
    (1, "222444"),
    (3, "R"),
    (5, "R"),
    (6, "R"),
    (8, "A"),
    (9, "E"),
    (10, "444444"),
    (11, "2"),
    (12, "R"),
    (13, "N"),
    (14, "222"),
    (15, "2R"),
    (16, "2"),
    (17, "2"),
    (18, "N"),
    (19, "11R"),
    (20, "R"),
    (65001, "R"),
];

fn dice_of(query: &Query) -> Dice {
    let (seed, which) = (u32::from(query.number()), u32::from(query.second_number()));
    let mut dice = Dice(0x9e37_79b9 ^ seed.wrapping_mul(0x85eb_ca6b) ^ which << 8 | 1);
    for _ in 0..8 {
        dice.roll(2);
    }
    dice
}

/// The second label is `oCODE`: a reply with that option and perhaps another.
fn option_dice(query: &Query) -> Vec<Act> {
    let mut dice = dice_of(query);
    let first = query.second_number();
    let other = OPTIONS[dice.roll(u32::try_from(OPTIONS.len()).unwrap()) as usize].0;
    let mut options = Vec::new();
    for code in [first, other].into_iter().take(1 + dice.roll(2) as usize) {
        let pieces = OPTIONS.iter().find(|(known, _)| *known == code).unwrap().1;
        options.extend(option(code, &dice.data(pieces)));
    }
    vec![query.good().opt(&[opt(1232, 0, &options)]).into()]
}

/// The second label is `mN`: a reply with a few bytes that are wrong, behind
/// its question.
fn message_dice(query: &Query) -> Vec<Act> {
    let mut dice = dice_of(query);
    let other = name(b"other.test");
    let mut reply = query.with(&[
        rr(5, &other),
        record(&other, (1, 1), 300, &[10, 0, 0, 1], None),
        rr(15, &[0, 10, 0xc0, 12]),
        rr(16, b"\x05hello\x00"),
    ]);
    let soa = [
        &[0xc0, 12][..],
        b"\x04host\xc0\x0c",
        &[0, 0, 0, 9].repeat(5),
    ]
    .concat();
    reply.authorities.push(rr(6, &soa));
    reply.authorities.push(rr(2, &[0xc0, 12]));
    let cookie = query.cookie().unwrap_or_default();
    reply.additionals = vec![
        rr(28, &[0x20; 16]),
        opt(
            1232,
            0,
            &[option(10, &cookie), option(15, b"\x00\x0fno")].concat(),
        ),
    ];
    let mut wire = reply.bytes();
    let behind = 12 + query.question().len();
    for _ in 0..=dice.roll(3) {
        let range = u32::try_from(wire.len() - behind).unwrap();
        let at = match dice.roll(6) {
            // The counts of all sections but the first.
            0 => 6 + dice.roll(6) as usize,
            _ => behind + dice.roll(range) as usize,
        };
        wire[at] = match dice.roll(4) {
            0 => 0xc0,
            1 => 0,
            _ => dice.byte(),
        };
    }
    if dice.roll(5) == 0 {
        let range = u32::try_from(wire.len() - behind).unwrap();
        wire.truncate(behind + dice.roll(range) as usize);
    }
    vec![Act::Say(wire)]
}

/// All types, options and ten lots of messages, with the words of one run for
/// each. `KDNS_SEED` throws other dice.
pub(super) fn all() -> Vec<(Bad, String)> {
    let seed = std::env::var("KDNS_SEED")
        .ok()
        .and_then(|it| it.parse::<u32>().ok());
    let seed = seed.unwrap_or_default() % 1000;
    let words = |(acts, kind, number): (Acts, char, u16)| {
        let name = |at: u32| format!("f{}.{kind}{number}.dice.test", seed * SEEDS + at);
        let names: Vec<String> = (0..SEEDS).map(name).collect();
        let ways = ["", "+multi", "+yaml", "+short", "+unk"];
        let way = ways[(usize::from(number) + seed as usize) % ways.len()];
        let one = bad("", "", acts);
        (
            one,
            format!(
                "+nocmd +nostats +cookie=0102030405060708 {way} {}",
                names.join(" ")
            ),
        )
    };
    let types = TYPES.iter().map(|&(rdtype, _)| (dice as Acts, 't', rdtype));
    let options = OPTIONS
        .iter()
        .map(|&(code, _)| (option_dice as Acts, 'o', code));
    let messages = (0..10).map(|lot| (message_dice as Acts, 'm', lot));
    types.chain(options).chain(messages).map(words).collect()
}
