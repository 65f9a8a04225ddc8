package dataset

import (
	"strings"
	"testing"
)

// TestQuantities: numbers with units, of money or time, and codes that hold numbers, which are none.
func TestQuantities(t *testing.T) {
	for texts, want := range map[string]bool{
		"1.3 kg|2 kg|5 kg": true, "28.7mm|3mm|4mm": true, "28.7°C|-3°C|4°C": true, "2kg|350g|400g": true,
		"1.2 bar|350 mbar|1 bar": true, "9 kg|0 kg|4 kg": true, "3 m/s^2|4 m/s^2|5 m/s^2": true,
		"01:20|2:33|0:50": true, "1:20:33|0:59|1:00": true, "3:45 pm|4:00 am|5:15 PM": true,
		"1h 30m|2h 15m|0h 5m": true, "1h30m|2h15m|1h05m": true, "5'11\"|6'0\"|5'4\"": true,
		"5 ft 11 in|6 ft 0 in|5 ft 4 in": true, "USD 286|USD 25|USD 3.10": true, "USD286|USD25|USD3": true,
		"pH 7.4|pH 6|pH 5": true, "€1.5M|€300K|€0": true, "36 months|60 months|1 year": true,
		"R$ 5|R$ 6|R$ 7": true, "5 square feet|6 square feet|9 square feet": true, "5,3 kg|2,1 kg|3 kg": true,
		"9.5 kg|−3 kg|4 kg": true, "７.５ kg|３ kg|９ kg": true,
		"1 kg|2 kg": false, "k1|k2|k3": false, "s0|s1|s2": false, "1st|2nd|3rd": false, "3a|3b|4a": false,
		"2020Q1|2020Q2|2020Q3": false, "v1.2|v1.3|v2.0": false, "room 5|room 6|room 7": false,
		"10-19|20-29|30-39": false, "1/2|3/4|5/6": false, "SW1A 1AA|SW1A 2AB|EC1 3AA": false,
		"1234 AB|2345 CD|3456 XY": false, "SKU 12|SKU 13|SKU 14": false, "3:1|2:0|0:0": false,
		"2XL|3XL|L": false, "A12|B13|C14": false, "12a|13b|14c": false, "x|y|z": false,
	} {
		if got := quantities(strings.Split(texts, "|")); got != want {
			t.Errorf("%s: %v", texts, got)
		}
	}
	if !allMatch(number, []string{"９.５６", "−5.3", "₹5", "5 000"}) {
		t.Error("numbers of other scripts")
	}
}
