//! JSON in one line, as serde_json writes it, with fewer instructions: where many scenarios are predicted,
//! lines are a good part of the work. Names of fields need no escapes, and hardly any text does.

use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
    Serializer,
};
use serde_json::Error;

/// Writes one value to the end of a text.
pub(super) struct Compact<'t>(pub(super) &'t mut Vec<u8>);

/// An array or an object whose parts are being written.
pub(super) struct Open<'t> {
    text: &'t mut Vec<u8>,
    is_empty: bool,
    end: u8,
}

impl<'t> Compact<'t> {
    fn open(self, start: u8, end: u8) -> Open<'t> {
        self.0.push(start);
        Open {
            text: self.0,
            is_empty: true,
            end,
        }
    }

    fn word(self, word: &str) {
        self.0.extend_from_slice(word.as_bytes());
    }

    /// A text of which nothing needs an escape.
    fn plain(self, text: &str) {
        self.0.push(b'"');
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b'"');
    }
}

impl Open<'_> {
    fn part(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.separate();
        value.serialize(Compact(self.text))
    }

    fn separate(&mut self) {
        if !self.is_empty {
            self.text.push(b',');
        }
        self.is_empty = false;
    }

    fn value(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.text.push(b':');
        value.serialize(Compact(self.text))
    }

    fn close(self) {
        self.text.push(self.end);
    }
}

/// What is rare is left to serde_json.
macro_rules! as_serde_json {
    ($($method:ident $value:ty),*) => {
        $(fn $method(self, value: $value) -> Result<(), Error> {
            serde_json::to_writer(self.0, &value)
        })*
    };
}

impl<'t> Serializer for Compact<'t> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Open<'t>;
    type SerializeTuple = Open<'t>;
    type SerializeMap = Open<'t>;
    type SerializeStruct = Open<'t>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    as_serde_json!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_u8 u8,
        serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_f32 f32, serialize_f64 f64,
        serialize_char char, serialize_bytes &[u8]
    );

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.word(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if !text.bytes().all(is_plain) {
            return serde_json::to_writer(self.0, text);
        }
        self.plain(text);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.word("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.plain(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut object = self.open(b'{', b'}');
        SerializeStruct::serialize_field(&mut object, variant, value)?;
        SerializeStruct::end(object)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'t>, Error> {
        Ok(self.open(b'[', b']'))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'t>, Error> {
        Ok(self.open(b'[', b']'))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'t>, Error> {
        Ok(self.open(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'t>, Error> {
        Ok(self.open(b'{', b'}'))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        Err(Error::custom(name))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(Error::custom(name))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(Error::custom(name))
    }
}

impl SerializeSeq for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.part(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl SerializeTuple for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.part(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl SerializeMap for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

impl SerializeStruct for Open<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.separate();
        Compact(self.text).plain(name);
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::IpAddr;

    use serde::Serialize;

    use super::Compact;

    #[derive(Serialize)]
    struct All<'t> {
        texts: [&'t str; 6],
        numbers: (u16, i64, f64, f64),
        flags: Vec<bool>,
        nothing: Option<u8>,
        something: Option<char>,
        units: ((), Kind, Kind),
        new: New,
        #[serde(flatten)]
        more: BTreeMap<&'t str, IpAddr>,
        none: Vec<u8>,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        AsIs,
        Search(usize),
    }

    #[derive(Serialize)]
    struct New(&'static [u8]);

    #[test]
    fn what_is_written_is_what_serde_json_writes() {
        let all = All {
            texts: ["", "web", "a\"b\\c", "\u{1f}\n", "\u{7f} é \u{202e}", "/"],
            numbers: (1232, -7, 1.0, f64::NAN),
            flags: vec![true, false],
            nothing: None,
            something: Some('"'),
            units: ((), Kind::AsIs, Kind::Search(3)),
            new: New(b"\x01\xff"),
            more: BTreeMap::from([("a\"", [10, 0, 0, 1].into()), ("b", [0xfd00; 8].into())]),
            none: Vec::new(),
        };
        let mut text = b"before".to_vec();
        all.serialize(Compact(&mut text)).unwrap();
        let expected = serde_json::to_string(&all).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            format!("before{expected}")
        );
    }
}
