package dataset

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// dateLayouts are the layouts of dates (package time); the first that fits a whole column is taken.
var dateLayouts = []string{"2006-1-2", "2006/1/2", "2.1.2006", "1/2/2006", "2/1/2006", "2-1-2006",
	"2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "2-Jan-2006", "2006-1",
	time.RFC3339, "2006-1-2T15:4:5", "2006-1-2 15:4:5", "2006-1-2 15:4:5Z07:00", "2006-1-2 15:4",
	"2006-1-2T15:4", "2006/1/2 15:4:5", "2006/1/2 15:4", "2.1.2006 15:4:5", "2.1.2006 15:4",
	"1/2/2006 15:4:5", "1/2/2006 15:4", "2/1/2006 15:4:5", "2/1/2006 15:4"}

// dateLayout is the layout of texts if all are dates, else "".
func dateLayout(texts []string) string {
	for _, layout := range dateLayouts {
		if len(texts) > 0 && allDates(layout, texts) {
			return layout
		}
	}
	return ""
}

func allDates(layout string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		_, err := time.Parse(layout, text)
		return err != nil
	})
}

// layoutText describes a layout, and any other that fits the texts as well.
func layoutText(layout string, texts []string) string {
	signs := strings.NewReplacer("2006", "year", "January", "month", "Jan", "month", "15", "hour",
		"07:00", "zone", "01", "month", "02", "day", "04", "minute", "05", "second", "1", "month", "2", "day",
		"4", "minute", "5", "second", "Z", " ", "T", " ")
	text := signs.Replace(layout)
	if rest, monthFirst := strings.CutPrefix(layout, "1/2"); monthFirst && allDates("2/1"+rest, texts) {
		text += ", though day/month fits, too"
	}
	return text
}

// dateParts names the features of a date in a layout, for trend, season and week.
func dateParts(layout string) []string {
	parts := []string{"year", "month", "weekday", "days"}
	if strings.Contains(layout, "15") {
		parts = append(parts, "hour")
	}
	return parts
}

// dateFeatures are the values of dateParts: Monday is 1 and Sunday 7, days count from 1970-01-01.
func dateFeatures(layout, text string) ([]float64, error) {
	at, err := time.Parse(layout, text)
	if err != nil {
		return nil, fmt.Errorf("%s is no date as those of the training set are (%s)", quote(text),
			layoutText(layout, nil))
	}
	hours := float64(at.Hour()) + float64(at.Minute())/60
	weekday := float64((at.Weekday()+6)%7) + 1
	return []float64{float64(at.Year()), float64(at.Month()), weekday, float64(at.Unix()) / 86400,
		hours}[:len(dateParts(layout))], nil
}
