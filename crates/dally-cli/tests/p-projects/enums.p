// Elements of enums inside of payloads, and null.
enum Colour { Red = 3, Green = 5 }
type tCar = (colour: Colour, owner: machine, doors: seq[Colour]);
event eCar: tCar;
event eMap: map[Colour, set[Colour]];
event eAny: any;
event eText: string;

machine Main {
  start state S {
    entry {
      var doors: seq[Colour];
      var colours: map[Colour, set[Colour]];
      doors += (0, Green);
      colours[Red] = default(set[Colour]);
      colours[Red] += (Green);
      send this, eCar, (colour = Red, owner = default(machine), doors = doors);
      send this, eMap, colours;
      send this, eAny, Red;
      send this, eText, "two \"words\"";
    }
    ignore eCar, eMap, eAny, eText;
  }
}

test tcEnums [main=Main]: { Main };
